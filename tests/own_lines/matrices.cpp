// hooks: malloc
#include "share.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <vector>

static Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return a * b;
}

int main() {
    const allocscope::scope window{"matrices"};
    const Eigen::MatrixXd a = Eigen::MatrixXd::Random(50, 50);
    Eigen::MatrixXd b = a.transpose();
    b += a;
    const Eigen::MatrixXd c = product(a, b);
    const Eigen::VectorXd v = c.col(3);
    const Eigen::LLT<Eigen::MatrixXd> factors{c * c.transpose()};
    const Eigen::VectorXd solved = factors.solve(v);
    const Eigen::JacobiSVD<Eigen::MatrixXd> values{c, Eigen::ComputeThinU};
    Eigen::SparseMatrix<double> sparse{100, 100};
    sparse.reserve(Eigen::VectorXi::Constant(100, 4));
    sparse.insert(3, 4) = 5;
    sparse.makeCompressed();
    std::vector<Eigen::Triplet<double>> triplets{{1, 2, 3.0}, {4, 5, 6.0}};
    Eigen::SparseMatrix<double> of_triplets{100, 100};
    of_triplets.setFromTriplets(triplets.begin(), triplets.end());
    return testing::own_lines(window.stats(), __FILE__, 9);
}

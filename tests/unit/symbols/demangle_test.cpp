// Names that are written out, names that stay as they are, and names made to explode.

#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/demangle.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <string>

#include "support/scale.hpp"

namespace {

std::string demangled(const std::string& name) {
    allocscope::plain::arena memory;
    return allocscope::symbolize::demangled(memory, name.c_str()).data();
}

// f(A<B>, A<x, x>, A<y, y>, ...), each argument made of the one before it, twice.
std::string doubling_name(int steps) {
    const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name = "_Z1f1AI1BS0_E";
    for (int i = 0; i < steps; ++i) {
        const std::string last = std::string("S") + digits[i + 1] + "_";
        name += "S_I" + last + last + "E";
    }
    return name;
}

}  // namespace

TEST_CASE("demangle: functions, templates, special names and split-off parts are written out") {
    CHECK(demangled("_ZN3app4loadEi") == "app::load(int)");
    CHECK(demangled("_ZNSt6vectorIiSaIiEE7reserveEm") ==
          "std::vector<int, std::allocator<int> >::reserve(unsigned long)");
    CHECK(demangled("_ZTV6widget") == "vtable for widget");
    CHECK(demangled("_ZTIN3app6widgetE") == "typeinfo for app::widget");
    CHECK(demangled("_ZThn16_N3app6widgetD1Ev") == "non-virtual thunk to app::widget::~widget()");
    CHECK(demangled("_ZZ4mainENKUlvE_clEv") == "main::{lambda()#1}::operator()() const");
    CHECK(demangled("_ZN12_GLOBAL__N_16hiddenEi") == "(anonymous namespace)::hidden(int)");
    CHECK(demangled("_ZN3app4loadEi.cold") == "app::load(int) [clone .cold]");
    CHECK(demangled("_ZNSt9enable_ifIXsr3std7is_sameIT_iEE5valueEvE4type1fEv").find("enable_if") !=
          std::string::npos);
}

TEST_CASE("demangle: packs of arguments are written out, and not each for all of them") {
    // A function with two packs of five arguments, each of which refers to others.
    CHECK(demangled("_ZN3app13write_columnsINS_7contextES1_JNS_9column_ofINS_14table_of_booksENS3_"
                    "5titleEEENS2_IS3_NS3_6authorEEENS2_IS3_NS3_4yearEEENS_5shelfIS9_EEEEERT_SD_"
                    "RKNS_15list_of_columnsIT0_JDpT1_EEESD_")
              .rfind("app::context& app::write_columns<app::context, app::context", 0) == 0);
    // There is an "sp" in display_kind, but no expression.
    CHECK(
        demangled("_ZN3app5storeINS_5shelfIiEENS1_INS_9column_ofIS2_cEEEENS3_IS5_S2_EEE6insertIJ"
                  "NS_10split_kindENS_12display_kindES2_iEEEvNS1_IPS2_EENS1_IS6_EENS1_IS5_EEDpOT_")
            .rfind("void app::store<app::shelf<int>, app::shelf<app::column_of<", 0) == 0);
}

TEST_CASE("demangle: what is no C++ name stays as it is") {
    for (const char* name :
         {"main", "", "_", "_Z", "_Z1", "_Z99999999999999999999x", "_ZN", "_ZNE", "_ZS0_",
          "_Z1fIT_E", "_Z1fDp", "_Z1fIJiEEvDp", "_Z1fIJiEEvDpRK", "memcpy@plt", "_ZTV", "_ZGR"}) {
        CAPTURE(name);
        CHECK(demangled(name) == name);
    }
}

TEST_CASE("demangle: names whose references double their length keep their linker names") {
    CHECK(demangled(doubling_name(4)).compare(0, 8, "f(A<B, B") == 0);
    std::size_t last = 0;
    int steps = 1;
    for (std::string name = doubling_name(1); demangled(name) != name; ++steps) {
        CAPTURE(steps);
        CHECK(demangled(name).size() > last * 3 / 2);
        last = demangled(name).size();
        name = doubling_name(steps + 1);
    }
    CHECK(steps > 7);
    CHECK(last < 100000);
    for (; steps < 34; ++steps) {
        CAPTURE(steps);
        CHECK(demangled(doubling_name(steps)) == doubling_name(steps));
    }
}

TEST_CASE("demangle: expansions of packs in expansions keep their linker names") {
    // 400 * 400 * 400 arguments, of 7 references
    const std::string name = "_Z1fIJ" + std::string(400, 'i') + "EEvDpT_DpPFT_S1_EDpPFT_S5_E";
    CHECK(demangled(name) == name);
    // Templates, and each has all of them in its arguments.
    std::string templates;
    for (int i = 0; i < 300; ++i) templates += "1A";
    const std::string nested = "_Z1fIJ" + templates + "EEvDpT_IDpT_IDpT_IiEEE";
    CHECK(demangled(nested) == nested);
    CHECK(demangled("_Z1fIJiiiEEvDpT_DpPT_") ==
          "void f<int, int, int>(int, int, int, int*, int*, int*)");
}

TEST_CASE("demangle: a part to which a name refers again and again is as long each time") {
    std::string name = "_Z1f1AS_";
    std::string known = "f(A, A";
    for (int i = 0; i < 300; ++i) {
        name += "S_";
        known += ", A";
    }
    CHECK(demangled(name) == known + ")");
    CHECK(demangled("_ZN9simplecpp10preprocessERNS_9TokenListERKS0_RSt6vectorINSt7__cxx1112basic_"
                    "stringIcSt11char_traitsIcESaIcEEESaISA_EERSt3mapISA_PS0_St4lessISA_"
                    "ESaISt4pairIKSA_SF_EEERKNS_3DUIEPNS5_4listINS_6OutputESaISS_EEEPNSR_INS_"
                    "10MacroUsageESaISW_EEEPNSR_INS_6IfCondESaIS10_EEE")
              .compare(0, 42, "simplecpp::preprocess(simplecpp::TokenList") == 0);
    // A number may begin with zeros: "S00_" is "S0_", and says nothing of the parts after it.
    const std::string doubling = "_Z1f1AI1BS0_ES00000_";
    CHECK(demangled(doubling + doubling_name(33).substr(13)) ==
          doubling + doubling_name(33).substr(13));
}

TEST_CASE("demangle: names too long or too deep keep their linker name") {
    for (const char* part :
         {"P", "1AI", "N1A", "X", "F", "K", "S_", "T_", "L", "DpT_", "J", "cv"}) {
        CAPTURE(part);
        for (const std::size_t length : {200U, 900U, 1500U, 4000U, 100000U}) {
            std::string name = "_Z1f";
            while (name.size() < length) name += part;
            CHECK(demangled(name).size() <= 8 * name.size() + 1000);
        }
    }
    const std::string long_name = "_Z900" + std::string(900, 'a') + "v";
    CHECK(demangled(long_name) == std::string(900, 'a') + "()");
    const std::string longest = "_Z4089" + std::string(4089, 'a') + "v";
    REQUIRE(longest.size() == 4096);
    CHECK(allocscope::symbolize::is_demanglable(longest.c_str()));
    CHECK_FALSE(allocscope::symbolize::is_demanglable((longest + "i").c_str()));
}

TEST_CASE("demangle: a hundred thousand distorted names give short answers") {
    const std::string seeds[] = {
        "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE17_M_realloc_"
        "insertIJRKS5_EEEvN9__gnu_cxx17__normal_iteratorIPS5_S7_EEDpOT_",
        "_ZNSt8_Rb_treeIiSt4pairIKiSsESt10_Select1stIS2_ESt4lessIiESaIS2_EE8_M_eraseEPSt13_Rb_"
        "tree_nodeIS2_E",
        "_ZSt4moveIRZN3app4loadEiEUlvE_EONSt16remove_referenceIT_E4typeEOS4_",
        "_Z1fIiEDTcl1gfp_EET_",
        doubling_name(8),
        "_ZN3app1fIJN3app1aIiEES2_EJiNS_1bIS2_EEEEEvRKNS_1cIJDpT_EEEDpOT0_DpRKNS_1dIT_EE"};
    const char alphabet[] = "_0123456789NSTIEJXLKPRODFUZabcdilmprstv";
    std::mt19937 random{11};
    std::size_t total = 0;
    const long rounds = allocscope_test::is_soak() ? 1000000 : 100000;
    for (long round = 0; round < rounds; ++round) {
        std::string name = seeds[random() % (sizeof seeds / sizeof seeds[0])];
        const unsigned changes = 1 + random() % 4;
        for (unsigned i = 0; i < changes; ++i) {
            const std::size_t at = 2 + random() % (name.size() - 2);
            if (random() % 3 == 0) {
                name.insert(at, name.substr(2 + random() % (name.size() - 2), random() % 12));
            } else {
                name[at] = alphabet[random() % (sizeof alphabet - 1)];
            }
        }
        const std::string answer = demangled(name);
        CHECK_FALSE(answer.empty());
        REQUIRE(answer.size() <= std::size_t{1} << 20);
        total += answer != name ? 1U : 0U;
    }
    CHECK(total > 5000);
}

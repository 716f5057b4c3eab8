#include "share.hpp"

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>

using google::protobuf::Struct;
using google::protobuf::Value;

int main() {
    Struct warm;  // descriptors are made at the first use
    google::protobuf::util::JsonStringToMessage("{\"a\": 1}", &warm);
    const allocscope::scope window{"protobuf"};
    Struct message;
    auto& fields = *message.mutable_fields();
    fields["name"].set_string_value("a value that is too long for the object");
    fields["number"].set_number_value(2.5);
    Value* const inner = fields["inner"]
                             .mutable_struct_value()
                             ->mutable_fields()
                             ->
                             operator[]("list")
                             .mutable_list_value()
                             ->add_values();
    inner->set_string_value(std::string(50, 'v'));
    const std::string bytes = message.SerializeAsString();
    Struct read;
    read.ParseFromString(bytes);
    const auto copied = std::make_unique<Struct>(read);
    std::string json;
    google::protobuf::util::MessageToJsonString(message, &json);
    Struct of_json;
    google::protobuf::util::JsonStringToMessage(json, &of_json);
    google::protobuf::Arena arena;
    auto* in_arena = google::protobuf::Arena::CreateMessage<Struct>(&arena);
    (*in_arena->mutable_fields())["key"].set_string_value(std::string(60, 'a'));
    google::protobuf::FileDescriptorProto file;
    file.set_name("made_at_run_time_and_long_enough.proto");
    google::protobuf::DescriptorProto* kind = file.add_message_type();
    kind->set_name("kind_of_message_with_a_long_name");
    google::protobuf::FieldDescriptorProto* field = kind->add_field();
    field->set_name("field");
    field->set_number(1);
    field->set_label(google::protobuf::FieldDescriptorProto::LABEL_REPEATED);
    field->set_type(google::protobuf::FieldDescriptorProto::TYPE_INT32);
    const std::string shown = file.DebugString();
    return testing::own_lines(window.stats(), __FILE__, 12);
}

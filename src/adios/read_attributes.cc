// Attributes, as readers get them.
#include <cstdlib>
#include <cstring>

#include <adios_read.h>

#include "adios/read_file.h"

namespace forebay::adios {
namespace {

using io::Outcome;

struct AttributeContent {
  io::ValueType type = io::ValueType::int8;
  int size = 0;
  void* data = nullptr;
};

// Several texts, each with its NUL, as pointers to them in one piece of memory.
AttributeContent texts_of(std::span<const std::byte> bytes, uint64_t count) {
  const uint64_t most = std::min<uint64_t>(count, bytes.size() + 1);
  char** const texts = static_cast<char**>(allocate_bytes(most * sizeof(char*) + bytes.size() + 1));
  char* at = reinterpret_cast<char*>(texts + most);
  char* const end = at + bytes.size();
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  for (uint64_t i = 0; i < most; ++i) {
    texts[i] = at;
    at = std::min(end, at + std::strlen(at) + 1);
  }
  return {io::ValueType::string_array, static_cast<int>(most * sizeof(char*)), texts};
}

Outcome<AttributeContent> content_of(const ReadFile& file, const view::Attribute& attribute) {
  if (!attribute.variable.empty()) {
    const auto variable = file.variable(attribute.variable);
    if (!variable || file.variables[*variable].form != view::Form::scalar)
      return refuse_reading(err_invalid_attribute_reference, "attribute '" + attribute.name + "' has the value of '" +
                                                                 attribute.variable + "', which is no scalar here");
    const ReadVariable& referred = file.variables[*variable];
    FOREBAY_TRY(const Bytes value, scalar_value(file, referred.places.front()));
    return AttributeContent{referred.type, static_cast<int>(value.size()), malloc_copy(value)};
  }
  const io::ValueType type = *attribute.type.value;
  if (type == io::ValueType::string_array) return texts_of(attribute.value, attribute.count);
  if (attribute.value.size() >= INT32_MAX)
    return refuse_reading(err_no_memory, "attribute '" + attribute.name + "' is too large");
  if (type != io::ValueType::string)
    return AttributeContent{type, static_cast<int>(attribute.value.size()), malloc_copy(attribute.value)};
  return AttributeContent{type, static_cast<int>(attribute.value.size() + 1), malloc_copy(as_text(attribute.value))};
}

Outcome<void> give(const ReadFile& file, const view::Attribute& attribute, ADIOS_DATATYPES* type, int* size,
                   void** data) {
  if (type == nullptr || size == nullptr || data == nullptr)
    return refuse_reading(err_invalid_argument, "there is nowhere to put the attribute");
  FOREBAY_TRY(const AttributeContent content, content_of(file, attribute));
  *type = static_cast<ADIOS_DATATYPES>(content.type);
  *size = content.size;
  *data = content.data;
  return {};
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

int adios_get_attr(ADIOS_FILE* fp, const char* attrname, ADIOS_DATATYPES* type, int* size, void** data) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    const auto* attribute = attrname ? file->attribute(attrname) : nullptr;
    if (attribute == nullptr)
      return refuse_reading(err_invalid_attrname,
                            file->path + " has no attribute '" + (attrname ? attrname : "") + "'");
    return give(*file, *attribute, type, size, data);
  });
}

int adios_get_attr_byid(ADIOS_FILE* fp, int attrid, ADIOS_DATATYPES* type, int* size, void** data) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    if (attrid < 0 || attrid >= static_cast<int>(file->shown_attributes.size()))
      return refuse_reading(err_invalid_attrid,
                            file->path + " has no attribute of the number " + std::to_string(attrid));
    return give(*file, file->attributes[file->shown_attributes[static_cast<size_t>(attrid)]], type, size, data);
  });
}
}

#include "cli/json.h"

#include <cstdio>

#include "cli/text.h"

namespace forebay::cli {

Json json_text(std::string_view text) {
  if (is_utf8(text)) return text;
  return {{"base64", base64(text)}, {"text", printable(text)}};
}

Json json_text_or_null(std::string_view text) { return text.empty() ? Json() : json_text(text); }

Json json_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(json_text(text));
  return list;
}

Json json_ratio(double raw, double stored) {
  if (!(stored > 0)) return nullptr;
  return raw / stored;
}

Json json_error(const Error& error) {
  Json body = {{"kind", to_string(error.kind)}, {"message", json_text(error.what)}};
  body["path"] = error.path.empty() ? Json() : json_text(error.path);
  body["offset"] = error.offset ? Json(*error.offset) : Json();
  body["hint"] = error.hint.empty() ? Json() : json_text(error.hint);
  return {{"error", std::move(body)}};
}

std::string json_lines(const Json& document) { return printable_json(document.dump(2)) + "\n"; }

void print_json(const Json& document) {
  const std::string text = json_lines(document);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace forebay::cli

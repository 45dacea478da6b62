// Expat does the parsing, and limits what entities may become; it is fed the text at once.
#include "plan/metrics/xml_reader.h"

#include <expat.h>

#include <memory>

#include "plan/metrics/metrics.h"

namespace stab::metrics {
namespace {

// Expat 2.9 deprecates the counters that are as wide as XML_Size.
#if XML_MAJOR_VERSION > 2 || (XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION >= 9)
std::string line_of(XML_Parser parser) { return std::to_string(XML_GetCurrentLineNumber64(parser)); }
std::string column_of(XML_Parser parser) { return std::to_string(XML_GetCurrentColumnNumber64(parser) + 1); }
#else
std::string line_of(XML_Parser parser) { return std::to_string(XML_GetCurrentLineNumber(parser)); }
std::string column_of(XML_Parser parser) { return std::to_string(XML_GetCurrentColumnNumber(parser) + 1); }
#endif

struct Reading {
  XML_Parser parser = nullptr;
  const XmlEvents* events = nullptr;
  int depth = 0;
  Status status;

  void take(const Status& given) {
    if (given || !status) return;
    status = bad_input("line " + line_of(parser) + ": " + given.error().message);
    XML_StopParser(parser, XML_FALSE);
  }
};

void begin(void* data, const char* name, const char** attributes) {
  auto& reading = *static_cast<Reading*>(data);
  if (++reading.depth > kMostDepth)
    return reading.take(bad_input("nested deeper than " + std::to_string(kMostDepth) + " levels"));
  std::map<std::string, std::string> of;
  for (; *attributes; attributes += 2) of.emplace(attributes[0], attributes[1]);
  reading.take(reading.events->begin(name, of));
}

void end(void* data, const char* name) {
  auto& reading = *static_cast<Reading*>(data);
  --reading.depth;
  if (reading.status) reading.take(reading.events->end(name));
}

// No tool of ours writes a DOCTYPE, and one is how a small file becomes a large one.
void doctype(void* data, const char*, const char*, const char*, int) {
  static_cast<Reading*>(data)->take(bad_input("it has a DOCTYPE, and benchmark tools write none"));
}

}  // namespace

Status read_xml(std::string_view text, const XmlEvents& events) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) return Error{ErrorCode::kSystem, "no memory for an XML parser", {}};
  Reading reading{parser.get(), &events, 0, {}};
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), begin, end);
  XML_SetStartDoctypeDeclHandler(parser.get(), doctype);
  const XML_Status parsed = XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
  if (!reading.status) return reading.status;
  if (parsed == XML_STATUS_OK) return {};
  const XML_Error error = XML_GetErrorCode(parser.get());
  const std::string place = "line " + line_of(parser.get()) + ", column " + column_of(parser.get());
  if (error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN)
    return bad_input("it ends at " + place + " in the middle of the XML; was it cut off?");
  return bad_input(place + ": this is not XML (" + XML_ErrorString(error) + ")");
}

}  // namespace stab::metrics

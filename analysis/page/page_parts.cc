// page.html has a {placeholder} for each part. Taking a page apart looks for the same text between them, so that a page
// whose frame, style or script was changed is told from one whose numbers were.
#include "analysis/page/page_parts.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "analysis/page/page.h"
#include "analysis/page/resources.h"

namespace stab::page {
namespace {

std::string digest(std::string_view text) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash);
  unsigned char coded[64];
  const int size = EVP_EncodeBlock(coded, hash, sizeof hash);
  return std::string(reinterpret_cast<const char*>(coded), static_cast<size_t>(size));
}

// In the order in which page.html has them; title stands twice there.
struct Placeholder {
  std::string_view name;
  std::string PageParts::*part;
};
constexpr Placeholder kParts[] = {{"{title}", &PageParts::title},     {"{plain}", &PageParts::plain},
                                  {"{report}", &PageParts::report},   {"{figures}", &PageParts::figures},
                                  {"{samples}", &PageParts::samples}, {"{evidence}", &PageParts::evidence},
                                  {"{causal}", &PageParts::causal},   {"{trials}", &PageParts::trials}};

void replace(std::string& text, std::string_view what, const std::string& with) {
  if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
}

// page.html with its own style and script, the parts still to come.
std::string frame() {
  std::string out(page_frame());
  replace(out, "{style-hash}", digest(page_style()));
  replace(out, "{script-hash}", digest(page_script()));
  replace(out, "{style}", std::string(page_style()));
  replace(out, "{script}", std::string(page_script()));
  return out;
}

}  // namespace

std::string assemble(const PageParts& parts) {
  const std::string text = frame();
  std::string out;
  size_t from = 0;
  for (const Placeholder& place : kParts) {
    const size_t at = text.find(place.name, from);
    out.append(text, from, at - from);
    out += parts.*place.part;
    from = at + place.name.size();
  }
  return out.append(text, from);
}

Result<PageParts> take_apart(std::string_view page) {
  const std::string text = frame();
  if (!page.starts_with(std::string_view(text).substr(0, text.find('\n'))))
    return bad_input(page.starts_with("SQLite format 3")
                         ? "it is a database; 'stabctl report --db FILE --html PAGE' writes a page of it"
                         : "it is no page that 'stabctl report --html' or 'stabctl run' wrote");
  PageParts parts;
  size_t from = 0, in_page = 0;
  for (size_t i = 0; i <= std::size(kParts); ++i) {
    const size_t at = i < std::size(kParts) ? text.find(kParts[i].name, from) : text.size();
    const std::string_view between = std::string_view(text).substr(from, at - from);
    // The last piece ends the page; the first begins it; each other one ends the part before it.
    const size_t found = i == 0 ? (page.starts_with(between) ? 0 : std::string_view::npos) : page.find(between, in_page);
    if (found == std::string_view::npos || (i == std::size(kParts) && found + between.size() != page.size()))
      return Error{ErrorCode::kCorrupt,
                   std::string("its frame, style or script is not what this stabctl writes") +
                       (i == 0 ? "" : " (after the part " + std::string(kParts[i - 1].name) + ")") +
                       ": another version wrote it, or it was changed",
                   {}};
    if (i > 0) parts.*kParts[i - 1].part = std::string(page.substr(in_page, found - in_page));
    in_page = found + between.size();
    if (i < std::size(kParts)) from = at + kParts[i].name.size();
  }
  return parts;
}

std::string page_policy() {
  static const std::string policy = [] {
    const std::string text = frame();
    const std::string_view begin = "Content-Security-Policy\" content=\"";
    const size_t at = text.find(begin) + begin.size();
    return text.substr(at, text.find('"', at) - at);
  }();
  return policy;
}

std::string json_for_page(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  // Between strings line feeds and indentation mean nothing; within them line feeds are escaped.
  bool indentation = false;
  for (const char c : json) {
    indentation = c == '\n' || (indentation && c == ' ');
    if (indentation) continue;
    if (c == '<') out += "\\u003c";
    else if (c == '>') out += "\\u003e";
    else if (c == '&') out += "\\u0026";
    else out += c;
  }
  return out;
}

}  // namespace stab::page

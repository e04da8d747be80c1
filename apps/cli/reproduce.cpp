#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "validation/cases.hpp"

namespace panto::cli {
namespace {

using validation::Case;
using validation::Row;

struct Arguments {
  std::string what;
  bool list = false, json = false;
};

int list_verb(bool json_wanted) {
  if (json_wanted) {
    JsonWriter json;
    json.begin_object().key("cases").begin_array();
    for (const Case& c : validation::cases())
      json.begin_object()
          .member("key", c.key)
          .member("item", c.item)
          .member("title", c.title)
          .end_object();
    json.end_array().end_object();
    out(json.text() + "\n");
    return kOk;
  }
  size_t width = 0;
  for (const Case& c : validation::cases()) width = std::max(width, name_of(c).size());
  std::string text;
  for (const Case& c : validation::cases())
    text += fmt::format("{:<{}}  {}\n", name_of(c), width, c.title);
  out(text);
  return kOk;
}

void add_rows(JsonWriter& json, const std::vector<Row>& rows) {
  json.key("rows").begin_array();
  for (const Row& r : rows)
    json.begin_object()
        .member("quantity", r.quantity)
        .member("printed", r.printed)
        .member("computed", r.computed)
        .member("unit", r.unit)
        .member("band", r.band)
        .member("verdict", r.verdict())
        .member("note", r.note)
        .end_object();
  json.end_array();
}

void add_assumed(JsonWriter& json, const std::vector<const Case*>& cases) {
  json.key("assumed").begin_object();
  for (const Case* c : cases)
    if (!c->assumed.empty())
      json.member(name_of(*c), std::vector<std::string>(c->assumed.begin(), c->assumed.end()));
  json.end_object();
}

std::string list_of(std::span<const char* const> assumed) {
  std::string text = assumed.empty() ? "" : "assumed, not in the source:\n";
  for (const char* datum : assumed) text += fmt::format("  {}\n", datum);
  return text;
}

std::string table_of(const std::vector<Row>& rows) {
  size_t width = 8;
  for (const Row& r : rows) width = std::max(width, letters(r.quantity));
  std::string text = fmt::format("{}  {:>18} {:>18} {:<8} {:>8}  {}\n",
                                 std::string("quantity") + std::string(width - 8, ' '), "printed",
                                 "computed", "unit", "band", "verdict");
  for (const Row& r : rows) {
    text += fmt::format("{}  {:>18.11g} {:>18.11g} {:<8} {:>8.1e}  {}\n",
                        r.quantity + std::string(width - letters(r.quantity), ' '), r.printed,
                        r.computed, r.unit, r.band, r.verdict());
    if (!r.note.empty()) text += fmt::format("    {}\n", r.note);
  }
  return text;
}

int reproduce_verb(const Arguments& a) {
  if (a.list) return list_verb(a.json);
  if (a.what.empty())
    return fail_usage("which case? `panto reproduce --list` shows them all", a.json);
  const auto cases = validation::cases_of(a.what);
  if (!cases.ok()) return fail(cases.diagnostics(), a.json);
  std::vector<Row> all;
  Diagnostics notes;
  std::string text;
  for (const Case* c : *cases) {
    note(fmt::format("case {}: {}", name_of(*c), c->title));
    const Result<std::vector<Row>> rows = c->run();
    notes.append(rows.diagnostics());
    if (!rows.ok()) return fail(notes, a.json);
    text += fmt::format("{}{}: {}\n{}\n{}", text.empty() ? "" : "\n", name_of(*c), c->title,
                        list_of(c->assumed), table_of(*rows));
    all.insert(all.end(), rows->begin(), rows->end());
  }
  print(notes);
  if (a.json) {
    JsonWriter json;
    json.begin_object().member("case", a.what);
    add_assumed(json, *cases);
    add_rows(json, all);
    json.end_object();
    out(json.text() + "\n");
  } else {
    summary(text);
  }
  return kOk;
}

}  // namespace

void add_reproduce(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("reproduce", "Published results, computed next to printed");
  verb->group("Other");
  verb->add_option("KEY", a->what, "Source, or source:item");
  verb->add_flag("--list", a->list, "List all cases");
  verb->add_flag("--json", a->json, "Result as JSON on standard output");
  verb->footer(
      "A row is `reproduced` when computed and printed value differ by no more than the band, "
      "which was\n"
      "set, with its reason, in validation/papers before the run; else `differs`, and the note "
      "says why.\n\n"
      "Examples:\n"
      "  panto reproduce --list\n"
      "  panto reproduce iftomm:A03\n"
      "  panto reproduce sanjurjo2017 --json");
  verb->callback([a, &exit_code] { exit_code = reproduce_verb(*a); });
}

}  // namespace panto::cli

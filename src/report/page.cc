#include "report/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/chart.h"
#include "report/text.h"

namespace forebay::report {
namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--faint:#d0d0d0;--a:#0072b2;--b:#b35900;--c:#00735a;--bad:#b22222}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#161616;--faint:#444;--a:#56b4e9;--b:#e69f00;--c:#3fcf9f;--bad:#ff7a6b}}
body{font:16px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;max-width:60rem;padding:1rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid var(--faint)}h3{font-size:1rem;margin:1.2rem 0 .2rem}
a{color:var(--a)}a:focus,summary:focus{outline:3px solid var(--b)}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}
table{border-collapse:collapse;font-size:.85rem;margin:.5rem 0}caption{text-align:left;font-weight:600}
th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--faint)}th:first-child,td:first-child,td.words{text-align:left}td{white-space:nowrap}figure{margin:.3rem 0}
.wide{overflow-x:auto}.bad{color:var(--bad);font-weight:600}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{font-weight:600}dd{margin:0}
svg{width:100%;max-width:40rem;height:auto;font-size:11px;fill:var(--ink)}
.grid{stroke:var(--faint)}polyline{fill:none;stroke-width:2}
.line0{stroke:var(--a);fill:var(--a)}.line1{stroke:var(--b);fill:var(--b)}.line2{stroke:var(--c);fill:var(--c)}
.line0 polyline,.line1 polyline,.line2 polyline{fill:none}.line1 polyline{stroke-dasharray:7 4}.line2 polyline{stroke-dasharray:2 3}
.mark line{stroke:var(--bad);stroke-width:2;stroke-dasharray:4 2}.mark text{fill:var(--bad);font-weight:700}
.key{font-size:.85rem}.key span{margin-right:1.2rem}
@media print{body{max-width:none}details{display:block}a{color:inherit}h2,h3,.bad{break-after:avoid}figure,tr{break-inside:avoid}}
)";

constexpr size_t kMostStages = 16;

std::string label_of(const SetLine& set) { return set.step ? fmt::format("step {}", *set.step) : set.name; }

std::string ratio_text(uint64_t raw, uint64_t stored) {
  if (raw == 0 || stored == 0) return "-";
  const double ratio = static_cast<double>(raw) / static_cast<double>(stored);
  return ratio < 0.01 ? "<0.01" : fmt::format("{:.2f}", ratio);
}

class Page {
 public:
  explicit Page(const Report& report) : report_(report) {}

  std::string text() {
    text_ = kPageBegin;
    text_ += fmt::format(
        "<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
        "<title>Report of {}</title><style>{}</style></head><body><a class=\"skip\" href=\"#sets\">To the sets</a>"
        "<main><h1>Report of {}</h1>\n",
        escaped(report_.store), kStyle, escaped(report_.store));
    summary();
    damage();
    leaps();
    sizes();
    times();
    variables();
    relations();
    table_of_sets();
    return text_ + "</main></body></html>\n";
  }

 private:
  void item(std::string_view term, std::string_view description) {
    text_ += fmt::format("<dt>{}</dt><dd>{}</dd>", term, escaped(description));
  }

  void summary() {
    uint64_t raw = 0, stored = 0;
    const SetLine *first = nullptr, *last = nullptr;
    for (const SetLine& set : report_.sets) {
      if (!set.is_readable) continue;
      raw += set.raw_bytes;
      stored += set.stored_bytes;
      if (first == nullptr) first = &set;
      last = &set;
    }
    text_ += "<dl>";
    if (!report_.series.empty()) item("Series", report_.series);
    item("Sets", std::to_string(report_.sets.size()));
    if (first != nullptr) {
      item("First", fmt::format("{}, {}", label_of(*first), time_text(first->created_ns)));
      item("Last", fmt::format("{}, {}", label_of(*last), time_text(last->created_ns)));
      item("Content",
           fmt::format("{}, stored in {}: ratio {}", bytes_text(raw), bytes_text(stored), ratio_text(raw, stored)));
    }
    item("Made", time_text(report_.made_ns));
    text_ += "</dl>\n";
    for (const std::string& note : report_.notes) text_ += fmt::format("<p>{}</p>\n", escaped(note));
  }

  void damage() {
    text_ += "<h2 id=\"damage\">Damage</h2>\n";
    const auto is_bad = [](const SetLine& set) { return !set.problem.empty(); };
    if (std::ranges::none_of(report_.sets, is_bad)) {
      text_ += "<p>None is known. Whether every stored byte is whole, <code>forebay verify</code> tells.</p>\n";
      return;
    }
    text_ += "<ul>";
    for (const SetLine& set : report_.sets)
      if (is_bad(set))
        text_ += fmt::format("<li><span class=\"bad\">{}</span>: {}</li>", escaped(set.name), escaped(set.problem));
    text_ += "</ul>\n";
  }

  std::string leap_text(const Leap& leap) const {
    return fmt::format("{}: magnitudes up to {}, after {} at most", label_of(report_.sets[leap.set]),
                       number_text(leap.now), number_text(leap.before));
  }

  void leaps() {
    if (report_.leaps.empty()) return;
    text_ +=
        "<h2 id=\"leaps\">Sudden growth</h2>\n<p>Values that became larger than a thousand times what they were in all "
        "sets before.</p>\n<ul>";
    for (const Leap& leap : report_.leaps)
      text_ +=
          fmt::format("<li><span class=\"bad\">{}</span>, {}</li>", escaped(leap.variable), escaped(leap_text(leap)));
    text_ += "</ul>\n";
  }

  // With the sets' places as x, and their names at its ends.
  Chart chart(std::string title, std::string description) const {
    Chart made{.title = std::move(title), .description = std::move(description)};
    made.last_x = static_cast<double>(std::max<size_t>(report_.sets.size(), 2) - 1);
    if (!report_.sets.empty()) {
      made.first_label = label_of(report_.sets.front());
      made.last_label = label_of(report_.sets.back());
    }
    return made;
  }

  void sizes() {
    uint64_t most = 0;
    for (const SetLine& set : report_.sets) most = std::max(most, set.raw_bytes);
    const auto [unit, unit_bytes] = byte_unit(most);
    Chart bytes =
        chart(fmt::format("Size of each set in {}", unit), "The content, and what is stored of it, over the sets.");
    Chart ratios = chart("Ratio of each set", "The content divided by what is stored, over the sets.");
    Line content{"content", {}}, stored{"stored", {}}, ratio{"ratio", {}};
    for (size_t i = 0; i < report_.sets.size(); ++i) {
      const SetLine& set = report_.sets[i];
      const auto x = static_cast<double>(i);
      if (!set.problem.empty()) bytes.marks.emplace_back(x, set.name + ": " + set.problem);
      if (!set.is_readable) continue;
      content.points.emplace_back(x, static_cast<double>(set.raw_bytes) / unit_bytes);
      stored.points.emplace_back(x, static_cast<double>(set.stored_bytes) / unit_bytes);
      if (set.stored_bytes > 0)
        ratio.points.emplace_back(x, static_cast<double>(set.raw_bytes) / static_cast<double>(set.stored_bytes));
    }
    bytes.lines = {std::move(content), std::move(stored)};
    ratios.lines = {std::move(ratio)};
    text_ += fmt::format("<h2 id=\"sizes\">Sizes</h2>\n<h3>{}</h3>\n{}<h3>Ratio</h3>\n{}", unit, figure(bytes),
                         figure(ratios));
  }

  // The stages that any set tells of, in the order in which they are first told; of more than there are, which a
  // manifest could claim, the first ones.
  std::vector<std::string> stages(double StageSeconds::* seconds) const {
    std::vector<std::string> names;
    for (const SetLine& set : report_.sets)
      for (const StageSeconds& stage : set.stages)
        if (stage.*seconds > 0 && names.size() < kMostStages && std::ranges::find(names, stage.stage) == names.end())
          names.push_back(stage.stage);
    return names;
  }

  static double seconds_in(const SetLine& set, const std::string& name, double StageSeconds::* seconds) {
    double sum = 0;
    for (const StageSeconds& stage : set.stages)
      if (stage.stage == name) sum += stage.*seconds;
    return sum;
  }

  Chart stage_chart(std::string title, std::string description, double StageSeconds::* seconds) const {
    Chart made = chart(std::move(title), std::move(description));
    for (const std::string& name : stages(seconds)) {
      if (made.lines.size() == kMostLines) break;
      Line& line = made.lines.emplace_back(name);
      for (size_t i = 0; i < report_.sets.size(); ++i)
        if (const SetLine& set = report_.sets[i]; !set.stages.empty())
          line.points.emplace_back(static_cast<double>(i), seconds_in(set, name, seconds));
    }
    return made;
  }

  void times() {
    const std::vector<std::string> clock = stages(&StageSeconds::clock), cpu = stages(&StageSeconds::cpu);
    if (clock.empty() && cpu.empty()) return;
    text_ +=
        "<h2 id=\"times\">Time in each stage</h2>\n<p>What each set took on its way into the store. A running job "
        "gathers "
        "what the ranks complete and waits for its turn (gather), makes a place in the store (stage), and reads, "
        "encodes "
        "and writes (pack).</p>\n";
    if (!clock.empty())
      text_ += "<h3>Seconds on the clock</h3>\n" +
               figure(stage_chart("Seconds on the clock in each stage", "Over the sets.", &StageSeconds::clock));
    if (!cpu.empty())
      text_ += "<h3>Seconds of all processors</h3>\n" +
               figure(stage_chart("Seconds of all processors in each stage", "Over the sets.", &StageSeconds::cpu));
    text_ +=
        "<details><summary>As a table</summary><div class=\"wide\"><table><caption>Seconds in each "
        "stage</caption><thead><tr><th scope=\"col\">set</th>";
    for (const std::string& name : clock) text_ += fmt::format("<th scope=\"col\">{}</th>", escaped(name));
    for (const std::string& name : cpu) text_ += fmt::format("<th scope=\"col\">{}, processors</th>", escaped(name));
    text_ += "</tr></thead><tbody>";
    for (const SetLine& set : report_.sets) {
      if (set.stages.empty()) continue;
      text_ += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(label_of(set)));
      for (const std::string& name : clock)
        text_ += fmt::format("<td>{:.3f}</td>", seconds_in(set, name, &StageSeconds::clock));
      for (const std::string& name : cpu)
        text_ += fmt::format("<td>{:.3f}</td>", seconds_in(set, name, &StageSeconds::cpu));
      text_ += "</tr>";
    }
    text_ += "</tbody></table></div></details>\n";
  }

  static std::string figure(const Chart& chart) {
    constexpr const char* kMarks[] = {"\xe2\x97\x8f \xe2\x94\x80\xe2\x94\x80", "\xe2\x96\xa0 \xe2\x94\x84\xe2\x94\x84",
                                      "\xe2\x96\xb2 \xc2\xb7\xc2\xb7\xc2\xb7"};
    std::string text = "<figure>" + svg_of(chart) + "<figcaption class=\"key\">";
    for (size_t i = 0; i < chart.lines.size(); ++i)
      text += fmt::format("<span class=\"line{}\" style=\"color:var(--{})\">{} {}</span>", i, "abc"[i], kMarks[i],
                          escaped(chart.lines[i].name));
    if (!chart.marks.empty()) text += "<span class=\"bad\">! marks what is wrong</span>";
    return text + "</figcaption></figure>\n";
  }

  void variables() {
    if (report_.variables.empty()) {
      plain_files();
      return;
    }
    text_ +=
        "<h2 id=\"variables\">Variables</h2>\n<p>The smallest, largest and mean finite value of each, from the indices "
        "of the sets.</p>\n";
    for (const Variable& variable : report_.variables) one_variable(variable);
  }

  // Why there are none.
  void plain_files() {
    if (report_.plain_files.empty()) return;
    text_ += fmt::format(
        "<h2 id=\"variables\">Variables</h2>\n<p>None: no file of {} has variables in a format that Forebay reads. The "
        "files are stored and come back as they were; raw binary has variables once <code>forebay pack "
        "--describe</code> says where they lie.</p>\n<div class=\"wide\"><table><caption>Files of "
        "{}</caption><thead><tr>"
        "<th scope=\"col\">such as</th><th scope=\"col\">files</th><th scope=\"col\">content</th><th "
        "scope=\"col\">format</th><th scope=\"col\">looks like</th></tr></thead><tbody>",
        escaped(report_.plain_set), escaped(report_.plain_set));
    for (const PlainFiles& kind : report_.plain_files)
      text_ += fmt::format(
          "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"words\">{}</td><td "
          "class=\"words\">{}</td></tr>",
          escaped(kind.example), kind.files, bytes_text(kind.bytes), escaped(kind.format), escaped(kind.looks));
    text_ += "</tbody></table></div>\n";
  }

  void one_variable(const Variable& variable) {
    Chart values = chart("Values of " + variable.name, "");
    Line least{"smallest", {}}, largest{"largest", {}}, mean{"mean", {}};
    std::string rows;
    uint64_t nans_before = 0, infinities_before = 0;
    for (const Leap& leap : report_.leaps)
      if (leap.variable == variable.name) values.marks.emplace_back(static_cast<double>(leap.set), leap_text(leap));
    for (const Values& at : variable.values) {
      const SetLine& set = report_.sets[at.set];
      const auto x = static_cast<double>(at.set);
      if (at.count > 0) {
        least.points.emplace_back(x, at.min);
        largest.points.emplace_back(x, at.max);
        mean.points.emplace_back(x, at.mean);
      }
      if (at.nans > 0 && nans_before == 0)
        values.marks.emplace_back(x, fmt::format("{}: {} NaN appear", label_of(set), at.nans));
      if (at.infinities > 0 && infinities_before == 0)
        values.marks.emplace_back(x, fmt::format("{}: {} infinities appear", label_of(set), at.infinities));
      nans_before = at.nans;
      infinities_before = at.infinities;
      const bool known = at.count > 0;
      rows +=
          fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td{}>{}</td><td>{}</td></tr>",
                      escaped(label_of(set)), known ? number_text(at.min) : "-", known ? number_text(at.max) : "-",
                      known ? number_text(at.mean) : "-", at.nans > 0 ? " class=\"bad\"" : "", at.nans, at.infinities);
    }
    values.description =
        values.marks.empty() ? "Smallest, largest and mean value over the sets." : values.marks[0].second;
    values.lines = {std::move(mean), std::move(least), std::move(largest)};
    text_ += fmt::format("<h3>{} <small>({}, {})</small></h3>\n", escaped(variable.name), escaped(variable.type),
                         escaped(variable.shape));
    for (const auto& [x, what] : values.marks) text_ += fmt::format("<p class=\"bad\">{}</p>", escaped(what));
    text_ += figure(values);
    text_ +=
        "<details><summary>As a table</summary><div class=\"wide\"><table><caption>" + escaped(variable.name) +
        "</caption><thead><tr><th scope=\"col\">set</th><th scope=\"col\">smallest</th><th scope=\"col\">largest</th>"
        "<th scope=\"col\">mean</th><th scope=\"col\">NaN</th><th scope=\"col\">infinite</th></tr></thead><tbody>" +
        rows + "</tbody></table></div></details>\n";
  }

  void relations() {
    if (report_.related_set.empty()) return;
    text_ += "<h2 id=\"relations\">Which variables follow which</h2>\n";
    if (report_.relations.empty()) {
      text_ += fmt::format(
          "<p>No variable of {} is stored as what others leave unsaid of it. Only sets of the profile <code>max</code> "
          "are looked "
          "through for that.</p>\n",
          escaped(report_.related_set));
      return;
    }
    text_ += fmt::format(
        "<p>In {}, these variables follow from others nearly, so that little is left to store of them. A relation of "
        "changes tells "
        "how a variable changes from cell to cell.</p>\n<div "
        "class=\"wide\"><table><caption>Relations</caption><thead><tr>"
        "<th scope=\"col\">relation</th><th scope=\"col\">of</th><th scope=\"col\">stored bits an "
        "element</th></tr></thead><tbody>",
        escaped(report_.related_set));
    for (const Relation& relation : report_.relations)
      text_ += fmt::format("<tr><td class=\"words\">{}</td><td class=\"words\">{}</td><td>{:.2f}</td></tr>",
                           escaped(relation.text), escaped(relation.kind), relation.bits);
    text_ += "</tbody></table></div>\n";
  }

  void table_of_sets() {
    text_ +=
        "<h2 id=\"sets\">Sets</h2>\n<div class=\"wide\"><table><caption>Oldest first</caption><thead><tr>"
        "<th scope=\"col\">set</th><th scope=\"col\">step</th><th scope=\"col\">saved</th><th "
        "scope=\"col\">content</th>"
        "<th scope=\"col\">stored</th><th scope=\"col\">ratio</th><th scope=\"col\">ranks</th><th "
        "scope=\"col\">files</th>"
        "<th scope=\"col\">profile</th><th scope=\"col\">parents</th></tr></thead><tbody>";
    for (const SetLine& set : report_.sets) {
      const std::string name = fmt::format("<tr><th scope=\"row\"{}>{}</th>",
                                           set.problem.empty() ? "" : " class=\"bad\"", escaped(set.name));
      if (!set.is_readable) {
        text_ += name + "<td colspan=\"9\" class=\"words\">cannot be read</td></tr>";
        continue;
      }
      text_ += fmt::format(
          "{}<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
          name, set.step ? std::to_string(*set.step) : "-", time_text(set.created_ns), bytes_text(set.raw_bytes),
          bytes_text(set.stored_bytes), ratio_text(set.raw_bytes, set.stored_bytes), set.ranks, set.files,
          escaped(set.profile), set.parents);
    }
    text_ += "</tbody></table></div>\n";
  }

  const Report& report_;
  std::string text_;
};

}  // namespace

std::string page_of(const Report& report) { return Page(report).text(); }

}  // namespace forebay::report

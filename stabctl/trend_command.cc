// trend: the levels of a treatment over all experiments whose plans declare a series.
#include <unistd.h>

#include "analysis/commands/series_trend.h"

#include "stabctl/commands.h"
#include "stabctl/daemon_trend.h"
#include "stabctl/database.h"
#include "stabctl/terminal.h"
#include "stabd/engine/results/load_series.h"

namespace stab::ctl {

int trend_command(const Arguments& arguments) {
  if (!arguments.socket.empty()) return daemon_trend(arguments);
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  const auto series = engine::load_series(*store, arguments.series, {static_cast<int64_t>(::geteuid()), true});
  if (!series) return complain(series.error());
  commands::TrendOptions options;
  options.series = arguments.series;
  options.request = {arguments.factor, arguments.anchor};
  options.left_out = series->left_out;
  options.json = arguments.json;
  options.full = arguments.full;
  options.width = terminal_width();
  options.colour = terminal_has_colour();
  return print(commands::run_trend(series->parts, options));
}

}  // namespace stab::ctl

const colors = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'missed', 'none', 'rest'];

/**
 * The style of charts, and the colors of what surrounds them, as text of a style sheet. Everything
 * is a variable that a page may set again. It is light or dark as `color-scheme` says. What scrolls
 * (`.scroll`) has a shadow at the side where there is more.
 */
export const chartStyle: string = `
:root { color-scheme: light dark;
  --chart-paper: light-dark(#f4f5f3, #101418); --chart-card: light-dark(#ffffff, #181d23);
  --chart-ink: light-dark(#1a2026, #eaecee); --chart-muted: light-dark(#59626e, #a2acb8);
  --chart-line: light-dark(#dfe2de, #2b333d); --chart-soft: light-dark(#e3f1ed, #17332d);
  --chart-shade: light-dark(rgb(0 0 0 / 22%), rgb(0 0 0 / 70%));
  --chart-accent: light-dark(#0a6b5c, #62d2b8); --chart-better: light-dark(#0a6b5c, #62d2b8); --chart-worse: light-dark(#a8380f, #ffa384);
  --chart-1: light-dark(#1f8a76, #3fae97); --chart-2: light-dark(#3f6cc4, #84a8f2); --chart-3: light-dark(#b57d0c, #e2b44c);
  --chart-4: light-dark(#8650b3, #c295e6); --chart-5: light-dark(#2489b0, #66c2e4); --chart-6: light-dark(#b53e7c, #ee90c0);
  --chart-missed: light-dark(#d9683f, #e98a63); --chart-none: light-dark(#b3bac1, #515b67); --chart-rest: light-dark(#7d8791, #838e9a); }
.chart { display: block; width: 100%; height: auto; font-size: 12px; font-variant-numeric: tabular-nums; }
.chart line { stroke: var(--chart-line); } .chart text { fill: var(--chart-muted); }
.chart .name, .chart .value { fill: var(--chart-ink); } .chart .cell { fill: var(--chart-1); } .chart .hit { fill: transparent; }
${colors.map((name) => `:is(.chart, .chart-legend) .${name} { --c: var(--chart-${name.replace('c', '')}); }`).join('\n')}
.chart .bar, .chart .dot { fill: var(--c); } .chart .line { fill: none; stroke: var(--c); stroke-width: 2; }
.chart .part .bar { fill-opacity: 0.4; stroke: var(--c); stroke-dasharray: 3 2; }
.chart .mark line { stroke: var(--chart-ink); stroke-dasharray: 2 3; } .chart .mark text { fill: var(--chart-ink); font-weight: 700; }
.chart .column { cursor: pointer; } .chart .column:focus-visible { outline: none; }
.chart .column:hover .hit, .chart .column:focus-visible .hit { fill: var(--chart-soft); }
.chart .column:focus-visible .hit { stroke: var(--chart-accent); stroke-width: 2; }
.chart-legend { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 0; padding: 0; font-size: 13px; color: var(--chart-muted); }
.chart-legend span { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; background: var(--c); }
.chart-legend .part { background: color-mix(in srgb, var(--c) 40%, transparent); outline: 1px dashed var(--c); outline-offset: -1px; }
.scroll { overflow: auto; background: linear-gradient(90deg, var(--chart-card) 30%, transparent) 0 0 / 36px 100% local no-repeat,
  linear-gradient(270deg, var(--chart-card) 30%, transparent) 100% 0 / 36px 100% local no-repeat,
  linear-gradient(90deg, var(--chart-shade), transparent) 0 0 / 14px 100% no-repeat, linear-gradient(270deg, var(--chart-shade), transparent) 100% 0 / 14px 100% no-repeat; }
.chart-better { color: var(--chart-better); } .chart-worse { color: var(--chart-worse); }
@media (forced-colors: active) { .chart, .chart-legend span { forced-color-adjust: none; } }
`;

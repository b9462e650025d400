// Draws an answer as a chart, for a page of any kind: SVG as text, colors by variables of CSS, and
// the words around it. Nothing here needs a browser or Node.js. Start with chartSvg(answer) and
// chartStyle.

export { formatCount, formatCounted } from '@call-attribution/core/errors';
export { chartStyle } from './style.ts';
export {
  type Charted,
  type ChartMark,
  type ChartOptions,
  chartLegend,
  chartMarks,
  chartSvg,
  covered,
  markInWords,
} from './svg.ts';
export {
  daysOfBucket,
  formatDate,
  formatDays,
  formatPeriod,
  longTime,
  partOfBucket,
  type Stretch,
  withPart,
} from './time.ts';
export {
  columnTitle,
  formatShare,
  formatValue,
  judgeChange,
  markup,
  type ShownColumn,
  shownDigits,
} from './words.ts';

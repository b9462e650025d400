// Calls as conversions for bid tools: which calls count and at what value, and the upload sheets the tools take.
// `createSheet` makes a sheet; `conversionOf` is its first step, before the form of any tool.
// Nothing here reads a clock, a file or a server.
export { checkSheet } from './check-sheet.ts';
export type { ClickIdName, ClickIds } from './click-ids.ts';
export { type Acceptance, type Conversion, type ConversionRules, conversionOf } from './conversion.ts';
export { sheetFormats } from './formats/all.ts';
export type { LeftOutReason, SheetProblem, ValueRulesProblem } from './reasons.ts';
export { createSheet, type Sheet } from './sheet.ts';
export type { SheetColumn, SheetFormat, SheetFormatName } from './sheet-format.ts';
export {
  readValueRules,
  type ValueRule,
  type ValueRules,
  ValueRulesError,
  valueByRules,
} from './value-rules.ts';
export { reasonTexts, sheetProblemText } from './words.ts';

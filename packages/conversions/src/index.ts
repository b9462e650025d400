// Calls as conversions for bid tools: which calls count, at what value, and the upload sheets that tools take.
export { ValueRulesError } from './errors.ts';
export {
  type Outcome,
  type Reason,
  reasonTexts,
  type SheetFormat,
  type SheetOptions,
  type SheetProblem,
} from './format.ts';
export { sheetFormats } from './formats.ts';
export { sheetLine } from './sheet.ts';
export { readValueRules, type ValueRule, type ValueRules, valueByRules } from './value.ts';

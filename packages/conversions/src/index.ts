// Calls as conversions for bid tools: which calls count and at what value, the upload sheets the tools take, and a ledger of
// what was uploaded. `conversions` judges calls, `toSheet` writes them, `openLedger` remembers them.
export { checkSheet } from './check-sheet.ts';
export type { ClickIdName, ClickIds } from './click-ids.ts';
export {
  type Acceptance,
  type Consent,
  type Conversion,
  type ConversionRules,
  conversionOf,
} from './conversion.ts';
export { conversions, type Outcome, type Tool, toConversions } from './conversions.ts';
export { sheetFormats } from './formats/all.ts';
export { fileJournal, type Journal, LedgerDamagedError } from './ledger/journal.ts';
export {
  type DeliveredFile,
  type Delivery,
  entryOf,
  type Ledger,
  type LedgerEntry,
  type LedgerOptions,
  openLedger,
} from './ledger/ledger.ts';
export type { LeftOutReason, SheetProblem, ValueRulesProblem } from './reasons.ts';
export { createSheet, type Sheet, SheetError, toSheet } from './sheet.ts';
export type { SheetColumn, SheetFormat, SheetFormatName } from './sheet-format.ts';
export {
  type CallerFacts,
  readValueRules,
  type ValueRule,
  type ValueRules,
  ValueRulesError,
  valueByRules,
} from './value-rules.ts';
export { reasonTexts, sheetProblemText } from './words.ts';

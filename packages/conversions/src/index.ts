// Calls as conversions for bid tools: which calls count and at what value, the upload sheets the
// tools take, and a ledger of what was uploaded. `conversions` says what each call changes of what a
// tool has, `toSheet` writes it, `openLedger` remembers it.

export type { ClickIdName, ClickIds } from '@call-attribution/questions';
export { type CallChange, type Change, changesToSend } from './changes.ts';
export { checkRules, RulesError } from './check-rules.ts';
export type { Consent, ConsentRule, ConsentRules, ConsentStatus } from './consent.ts';
export {
  type Acceptance,
  type Conversion,
  type ConversionRules,
  conversionOf,
  type Judged,
  type OutcomeRules,
} from './conversion.ts';
export { conversions, type Delivered, type Seen, toConversions } from './conversions.ts';
export type { LedgerEntry, SeenRow } from './entry.ts';
export {
  type ExplainOptions,
  explainChange,
  type JudgedCall,
  type Judging,
  judgeOne,
} from './explain.ts';
export { type SheetFormatName, sheetFormats } from './formats/all.ts';
export {
  adjustmentsPath,
  deliverSheets,
  finishDeliveries,
  refuseExisting,
} from './ledger/deliver.ts';
export { DeliveryError } from './ledger/errors.ts';
export { type Journal, openToForget } from './ledger/journal.ts';
export {
  type DeliveredFile,
  type Delivery,
  type Ledger,
  type LedgerOptions,
  openLedger,
  type Taken,
} from './ledger/ledger.ts';
export { type Correction, correctionTexts, type LeftOutReason, reasonTexts } from './reasons.ts';
export {
  type CountingRules,
  type RulesFile,
  type RulesPlace,
  readRulesFile,
  rulesIn,
} from './rules-file.ts';
export {
  type Agreement,
  type ConditionalRules,
  conditionsOf,
  type Worth,
} from './rules-read.ts';
export { toAdjustments, toSheet } from './sheet.ts';
export type {
  AdjustmentFormat,
  SheetColumn,
  SheetFormat,
  SheetLayout,
  Tool,
} from './sheet-format.ts';
export {
  checkRetractions,
  createTally,
  type Summary,
  summaryLines,
  type Tally,
  uncorrectedLines,
} from './summary.ts';
export {
  type CallerFacts,
  readValueRules,
  type ValueRule,
  type ValueRules,
} from './value-rules.ts';

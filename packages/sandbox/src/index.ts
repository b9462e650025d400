// The call-attribution API over generated calls: the same on every machine, with faults on demand
// and time that passes. Start with startSandbox(); generate() gives the generated calls alone.
export type { FaultBook, RequestFacts } from './faults/fault-book.ts';
export type { Journal, JournalEntry } from './faults/journal.ts';
export { type GenerateOptions, generate } from './generate/generate.ts';
export type { LiveOptions } from './live/live-clock.ts';
export {
  type Sandbox,
  type SandboxAccount,
  type SandboxOptions,
  startSandbox,
  testKeys,
} from './sandbox.ts';

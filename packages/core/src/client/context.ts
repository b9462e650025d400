import type { Call } from '../record/generated/calls.ts';
import type { Engine } from './engine.ts';
import type { Settings } from './read-options.ts';
import type { Reporter } from './reporter.ts';
import type { Requests } from './requests.ts';

/** What the methods of one client share. */
export interface Context {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly requests: Requests;
  readonly reporter: Reporter;
  /** A record from the wire, checked and brought under neutral names. */
  readonly adapt: (record: unknown) => Call;
}

/** What a worker does, for logs and metrics. */
export type WorkerEvent =
  /** A parcel was taken, and how that ended. */
  | {
      readonly kind: 'parcel';
      readonly account: string;
      readonly index: number;
      /** `done`: it was committed before; `lost`: another worker has it; `later`: it will be tried again; `aside`: taken out of the work. */
      readonly outcome: 'committed' | 'done' | 'lost' | 'later' | 'aside' | 'dropped';
      readonly records: number;
      readonly requests: number;
      readonly bytes: number;
      readonly seconds: number;
      /** Code of the error of `later` and `aside`, else null. */
      readonly code: string | null;
    }
  /** An account has changed its phase, or was synced. */
  | {
      readonly kind: 'account';
      readonly account: string;
      readonly outcome: 'proved' | 'reopened' | 'synced' | 'later' | 'aside';
      readonly code: string | null;
      /** With `synced`: what the sync did. */
      readonly sync?: { readonly new: number; readonly changed: number; readonly pending: number };
    }
  /** The worker itself. */
  | {
      readonly kind: 'worker';
      readonly state: 'working' | 'waiting' | 'resting' | 'leaving' | 'gone';
      readonly why: string | null;
    }
  /** A write to the board. */
  | { readonly kind: 'board'; readonly outcome: 'won' | 'lost' | 'failed'; readonly seconds: number }
  /** Time that a slot waited. */
  | {
      readonly kind: 'wait';
      readonly for: 'rate' | 'server' | 'target' | 'board';
      readonly seconds: number;
    };

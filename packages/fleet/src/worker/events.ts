/** What a worker does, for logs and metrics. */
export type WorkerEvent =
  /** A turn has ended. */
  | {
      readonly kind: 'turn';
      readonly account: string;
      /**
       * `cut`: there is more to read; `round`: all was read; `later`: tried again; `aside`: needs a person; `lost`: another
       * worker has it; `dropped`: given back.
       */
      readonly outcome: 'cut' | 'round' | 'later' | 'aside' | 'lost' | 'dropped';
      readonly calls: number;
      readonly requests: number;
      readonly seconds: number;
      /** Code of the error of `later` and `aside`, else null. */
      readonly code: string | null;
      /** What happened, else null. */
      readonly message: string | null;
    }
  /** The worker itself. */
  | {
      readonly kind: 'worker';
      readonly state: 'working' | 'waiting' | 'resting';
      readonly why: string | null;
    };

/** The responses in progress. */
export interface Progress {
  /** Notes a response, which `cut` ends early. Returns what is called when it has ended. */
  begin(cut: () => void): () => void;
  /** Waits until all have ended, and after `ms` cuts those that have not. */
  drain(ms: number): Promise<void>;
}

/** Nothing is in progress yet. */
export function createProgress(): Progress {
  const cuts = new Set<() => void>();
  let onIdle = (): void => {};
  return {
    begin(cut) {
      cuts.add(cut);
      return () => {
        if (cuts.delete(cut) && cuts.size === 0) onIdle();
      };
    },
    async drain(ms) {
      if (cuts.size === 0) return;
      const idle = new Promise<void>((done) => {
        onIdle = done;
      });
      const timer = setTimeout(() => {
        for (const cut of cuts) cut();
      }, ms);
      await idle;
      clearTimeout(timer);
    },
  };
}

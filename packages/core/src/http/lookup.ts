import dns, { type LookupAddress, type LookupOptions } from 'node:dns';

type Address = string | LookupAddress[];
type Done = (error: NodeJS.ErrnoException | null, address: Address, family?: number) => void;

/**
 * The code of the error when the address of a name does not come within the deadline for
 * connecting.
 */
export const lookupTimeout = 'LOOKUP_TIMEOUT';

/** Those who wait for a name. */
const waiting = new Map<string, Set<Done>>();

/** Is this name being looked up? */
export const isLookingUp = (hostname: string): boolean =>
  [...waiting.keys()].some((key) => key.endsWith(` ${hostname}`));

/**
 * Looks up names as `dns.lookup` does, within a deadline. That of the platform has none, cannot be
 * stopped and occupies a thread: so a name that hangs is looked up only once, however often it is
 * tried.
 */
export const lookupWithin =
  (ms: number) =>
  (hostname: string, options: LookupOptions, done: Done): void => {
    const key = `${JSON.stringify(options)} ${hostname}`;
    const others = waiting.get(key);
    const all = others ?? new Set();
    let timer: NodeJS.Timeout | undefined;

    const answer: Done = (...result) => {
      clearTimeout(timer);
      done(...result);
    };

    // The deadlines of the request keep the process alive.
    if (ms !== Number.POSITIVE_INFINITY)
      timer = setTimeout(() => {
        all.delete(answer);
        done(Object.assign(new Error('lookup timeout'), { code: lookupTimeout }), '');
      }, ms).unref();

    all.add(answer);
    if (others !== undefined) return;
    waiting.set(key, all);
    dns.lookup(hostname, options, (...result: Parameters<Done>) => {
      waiting.delete(key);
      for (const each of all) each(...result);
    });
  };

/** How undici connects, within the deadline for connecting. */
export const connectOptions = (ms: number) => ({
  timeout: ms === Number.POSITIVE_INFINITY ? 0 : ms,
  lookup: lookupWithin(ms),
});

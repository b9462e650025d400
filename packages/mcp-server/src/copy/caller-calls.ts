import type { Call } from '@call-attribution/core';
import { callerOf } from '@call-attribution/core/record';
import { day, parseNaive, periodOf, second } from '@call-attribution/core/time';
import type { Waiting } from './copy.ts';
import { eachCall, NotLoaded, type SentCall } from './source.ts';

/**
 * The calls of a caller in so many days up to one of them, as they were sent. Which they are is known
 * from the copy; null where they are more than `most`.
 */
export async function callsUpTo(
  { call, account }: SentCall,
  days: number,
  most: number,
  run: Waiting,
): Promise<readonly Call[] | null> {
  if (days === 0 || callerOf(call) === null) return [call];
  const at = parseNaive(String(call.date_added));
  const period = periodOf(at - days * day, at + second);
  const held = await account.copy.have([period], run);
  if (held.kind === 'loading') throw new NotLoaded(held);
  const { ani } = account.mask(call);
  const sids: string[] = [];
  await eachCall(held, [period], ['sid', 'ani'], run.signal, (each) => {
    if (each.ani === ani && each.sid !== call.sid) sids.push(each.sid);
  });
  if (sids.length > most) return null;
  const client = await account.client();
  const calls: Call[] = [];
  for (const sid of sids) calls.push(await client.getCall(sid, { signal: run.signal }));
  return [...calls, call];
}

import { setTimeout } from 'node:timers/promises';
import { isLoopback } from '@call-attribution/core/settings';
import { auth } from 'hono/utils/basic-auth';
import type { ClientOf } from '../http/addresses.ts';
import type { AppContext } from '../http/context.ts';
import { Refusal } from '../http/refusal.ts';
import type { FeedState } from './desk.ts';

/** Most passwords of one address that are checked, or wait for their refusal, at the same time. */
const mostAtOnce = 20;
/** How long the refusal of a wrong password takes. */
const refusalMs = 500;

/** The feeds among these that a request may see. It is refused when there are none. */
export type PasswordCheck = (c: AppContext, states: readonly FeedState[]) => Promise<FeedState[]>;

/** Checks the passwords of feeds. Guesses take time, and one address can make only a few at once. */
export function createPasswordCheck(clientOf: ClientOf): PasswordCheck {
  const atOnce = new Map<string, number>();
  return async (c, states) => {
    const guarded = states.filter(({ feed }) => feed.access !== null);
    const open = states.filter(({ feed }) => feed.access === null);
    const given = auth(c.req.raw);
    if (given === undefined || guarded.length === 0) {
      if (open.length === 0)
        throw unauthorized('missing_password', 'This feed needs a user name and a password (HTTP Basic).');
      if (!isLocal(c))
        throw new Refusal(
          'strange_host',
          'A feed without a password is only for this machine: use 127.0.0.1.',
        );
      return open;
    }
    const address = clientOf(c);
    const others = atOnce.get(address) ?? 0;
    if (others >= mostAtOnce)
      throw new Refusal('too_many_tries', 'Too many passwords at once. Wait 1 s.', {
        headers: { 'retry-after': '1' },
      });
    atOnce.set(address, others + 1);
    try {
      const opened: FeedState[] = [];
      for (const state of guarded)
        if (await state.feed.access?.accepts(given.username, given.password)) opened.push(state);
      if (opened.length === 0) {
        await setTimeout(refusalMs);
        throw unauthorized('wrong_password', 'The user name or the password is wrong.');
      }
      c.env.exchange.audit = { user: given.username };
      return isLocal(c) ? [...opened, ...open] : opened;
    } finally {
      const left = (atOnce.get(address) ?? 1) - 1;
      if (left === 0) atOnce.delete(address);
      else atOnce.set(address, left);
    }
  };
}

const unauthorized = (code: 'wrong_password' | 'missing_password', detail: string): Refusal =>
  new Refusal(code, detail, {
    headers: { 'www-authenticate': 'Basic realm="feeds", charset="UTF-8"' },
  });

/** A web page can make its own name mean this machine; then the browser sends that name. */
const isLocal = ({ req }: AppContext): boolean => isLoopback((req.header('host') ?? '').replace(/:\d+$/, ''));

import { isLoopback } from '@call-attribution/core/settings';
import { auth } from 'hono/utils/basic-auth';
import type { AppContext } from '../http/context.ts';
import { Refusal } from '../http/refusal.ts';
import { type Try, unauthorized } from '../http/tries.ts';
import type { FeedState } from './desk.ts';

/** The feeds among these that a request may see. It is refused when there are none. */
export type PasswordCheck = (c: AppContext, states: readonly FeedState[]) => Promise<FeedState[]>;

/** Checks the passwords of feeds. */
export const createPasswordCheck =
  (tryPassword: Try): PasswordCheck =>
  async (c, states) => {
    const guarded = states.filter(({ feed }) => feed.access !== null);
    const open = states.filter(({ feed }) => feed.access === null);
    const given = auth(c.req.raw);
    if (given === undefined || guarded.length === 0) {
      if (open.length === 0)
        throw unauthorized(
          'missing_password',
          'This feed needs a user name and a password (HTTP Basic).',
          'feeds',
        );
      if (!isLocal(c))
        throw new Refusal(
          'strange_host',
          'A feed without a password is only for this machine: use 127.0.0.1.',
        );
      return open;
    }
    const opened = await tryPassword(c, 'feeds', async () => {
      const found: FeedState[] = [];
      for (const state of guarded)
        if (await state.feed.access?.accepts(given.username, given.password)) found.push(state);
      return found.length === 0 ? null : found;
    });
    c.env.exchange.audit = { user: given.username };
    return isLocal(c) ? [...opened, ...open] : opened;
  };

/** A web page can make its own name mean this machine; then the browser sends that name. */
const isLocal = ({ req }: AppContext): boolean => isLoopback((req.header('host') ?? '').replace(/:\d+$/, ''));

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@call-attribution/core';
import { day, hour, minute } from '@call-attribution/core/time';
import type { Viewer } from '../http/public-types.ts';

// Who has signed in keeps a signed note of it in a cookie. Nothing is stored, so a session goes on
// after a restart; it is signed with a key that follows from the password, so another password ends
// it.

/** A session without a request for this time has ended. */
const idleMs = 12 * hour;
/** The longest session. */
const longestMs = 30 * day;
/** A cookie that was written longer ago than this is written again. */
const freshMs = 5 * minute;

/** What a cookie says. */
interface Session {
  readonly user: string;
  readonly id: string;
  /** When the user signed in, and when the cookie was written, in milliseconds. */
  readonly begun: number;
  readonly seen: number;
}

/** A cookie to write, and for how long it is valid. */
export interface SessionCookie {
  readonly value: string;
  readonly seconds: number;
}

/** The sessions of a page. */
export interface Sessions {
  /** Begins a session. */
  begin(viewer: Viewer): Promise<SessionCookie>;
  /**
   * Who a cookie belongs to, and what to write in its place once it is some minutes old; null when
   * it is no session, or one that has ended.
   */
  read(
    cookie: string,
    viewers: readonly Viewer[],
  ): Promise<{ readonly viewer: Viewer; readonly renewed: SessionCookie | null } | null>;
  /** Ends the session of a cookie: copies of it are worth nothing any more. */
  end(cookie: string, viewers: readonly Viewer[]): Promise<void>;
}

/** Creates the sessions of a page. Several processes know separately which sessions were ended. */
export function createSessions(clock: Pick<Clock, 'now'>): Sessions {
  /** Sessions that were ended by their users, until their cookies would be too old anyway. */
  const ended = new Map<string, number>();

  const cookieOf = async (viewer: Viewer, session: Session): Promise<SessionCookie> => {
    const left = session.begun + longestMs - session.seen;
    return {
      value: await signed(session, viewer),
      seconds: Math.floor(Math.min(idleMs, left) / 1000),
    };
  };

  /** The session of a cookie, and whose it is; null when it is none, or one that has ended. */
  const sessionIn = async (cookie: string, viewers: readonly Viewer[]) => {
    const session = readCookie(cookie);
    if (session === null || ended.has(session.id)) return null;

    const now = clock.now();
    const isOver = now - session.seen > idleMs || now - session.begun > longestMs;
    const viewer = viewers.find(({ access }) => access.user === session.user);
    if (isOver || viewer === undefined) return null;
    return isSame(cookie, await signed(session, viewer)) ? { session, viewer } : null;
  };

  return {
    begin(viewer) {
      const now = clock.now();
      const id = randomBytes(12).toString('base64url');
      return cookieOf(viewer, { user: viewer.access.user, id, begun: now, seen: now });
    },
    async read(cookie, viewers) {
      const found = await sessionIn(cookie, viewers);
      if (found === null) return null;
      const { session, viewer } = found;
      const now = clock.now();
      const isFresh = now - session.seen < freshMs;
      const renewed = isFresh ? null : await cookieOf(viewer, { ...session, seen: now });
      return { viewer, renewed };
    },
    async end(cookie, viewers) {
      const found = await sessionIn(cookie, viewers);
      if (found === null) return;
      const now = clock.now();
      for (const [id, until] of ended) if (until < now) ended.delete(id);
      ended.set(found.session.id, now + idleMs);
    },
  };
}

async function signed({ user, id, begun, seen }: Session, { access }: Viewer): Promise<string> {
  const text = Buffer.from(JSON.stringify([user, id, begun, seen])).toString('base64url');
  const signature = createHmac('sha256', await access.sessionKey()).update(text);
  return `${text}.${signature.digest('base64url')}`;
}

/** Compares two texts; how long that takes says nothing of where they differ. */
function isSame(one: string, other: string): boolean {
  const left = Buffer.from(one);
  const right = Buffer.from(other);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** What a cookie says, whether or not its signature is right. */
function readCookie(cookie: string): Session | null {
  try {
    const read: unknown = JSON.parse(
      Buffer.from(cookie.split('.')[0] ?? '', 'base64url').toString(),
    );
    if (!Array.isArray(read)) return null;
    const [user, id, begun, seen]: unknown[] = read;
    const isSession =
      typeof user === 'string' &&
      typeof id === 'string' &&
      typeof begun === 'number' &&
      typeof seen === 'number';
    return isSession ? { user, id, begun, seen } : null;
  } catch {
    return null;
  }
}

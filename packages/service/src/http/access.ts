import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** Who may fetch a feed or see the page. It keeps hashes, not the password. */
export interface Access {
  /** The user name. */
  readonly user: string;
  /** Is this the user name and the password? It takes the same time whatever the answer. */
  accepts(user: string, password: string): Promise<boolean>;
  /** What sessions of this user are signed with. Another password makes another key. */
  sessionKey(): Promise<Buffer>;
}

// New with each process, so that what is kept in memory is of no use elsewhere.
const key = randomBytes(32);
const digest = (user: string, password: string): Buffer =>
  createHmac('sha256', key).update(`${user}\0${password}`).digest();

/** Access with a password that is known. */
export function passwordAccess(user: string, password: string): Access {
  const expected = digest(user, password);
  return {
    user,
    accepts: async (name, typed) => timingSafeEqual(digest(name, typed), expected),
    sessionKey: sessionKeyOf(password),
  };
}

const cost = { N: 16_384, r: 8, p: 1 };
const form = /^scrypt\$(\d{4,7})\$(\d{1,2})\$(\d{1,2})\$([\w+/=-]{16,})\$([\w+/=-]{32,})$/;

/**
 * The hash of a password, for `passwordHash` in a file of feeds.
 *
 * @example
 * await hashPassword('correct horse battery staple'); // scrypt$16384$8$1$...
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, 32, cost);
  return `scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/**
 * Access with a password of which only the hash is known; null when the hash does not have the form
 * of `hashPassword`.
 */
export function hashedAccess(user: string, hash: string): Access | null {
  const [, N, r, p, salt = '', expected = ''] = form.exec(hash) ?? [];
  const costs = { N: Number(N), r: Number(r), p: Number(p) };

  // A power of two is what scrypt takes; more than this would let one request take seconds.
  const isSound =
    Number.isInteger(Math.log2(costs.N)) && costs.N <= 131_072 && costs.r * costs.p <= 32;
  if (expected === '' || !isSound) return null;
  const wanted = Buffer.from(expected, 'base64');

  // A hash takes tens of milliseconds, so a password that was right is remembered in another form.
  let known: Buffer | null = null;
  return {
    user,
    async accepts(name, password) {
      const typed = digest(name, password);
      if (known !== null && timingSafeEqual(typed, known)) return true;
      const found = await derive(password, Buffer.from(salt, 'base64'), wanted.length, costs);
      const isRight =
        timingSafeEqual(found, wanted) && timingSafeEqual(digest(name, ''), digest(user, ''));
      if (isRight) known = typed;
      return isRight;
    },
    sessionKey: sessionKeyOf(hash),
  };
}

/**
 * A key that follows from a password or its hash, so that a session outlives a restart and ends
 * with the password. Making it takes as long as a hash: who has a session does not find the password
 * by trying.
 */
function sessionKeyOf(secret: string): () => Promise<Buffer> {
  let key: Promise<Buffer> | null = null;
  return () => (key ??= derive(secret, Buffer.from('call-attribution page session'), 32, cost));
}

function derive(
  password: string,
  salt: Buffer,
  length: number,
  costs: typeof cost,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const maxmem = 256 * costs.N * costs.r;
    scrypt(password, salt, length, { ...costs, maxmem }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}

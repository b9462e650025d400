import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { type Clock, sleep } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { isLoopback } from '@call-attribution/core/settings';
import { limits } from '../defaults.ts';
import type { AppContext } from './context.ts';
import { Refusal } from './refusal.ts';

/** Most passwords of one address that are checked, or wait for their refusal, at the same time. */
const mostAtOnce = 20;
/** How long the refusal of a wrong password takes. */
const refusalMs = 500;

/** How others can reach what listens on a host; null when only this machine can. */
export function reachedBy(host: string, proxies: readonly string[]): string | null {
  if (!isLoopback(host)) return `at ${host || 'all addresses'}`;
  return proxies.length > 0 ? 'through a proxy' : null;
}

/** Refuses a password of the page that can be guessed, where others can try it. */
export function refuseShortPassword(
  password: string | null,
  host: string,
  proxies: readonly string[],
): void {
  const by = reachedBy(host, proxies);
  const { passwordLength } = limits;
  if (password === null || by === null || password.length >= passwordLength) return;
  throw new ConfigurationError(
    'invalid_option',
    `The password of the page has fewer than ${passwordLength} characters, and others can reach it ${by}. Choose a longer one, or listen on 127.0.0.1.`,
  );
}

/** Checks a password, and refuses the request when it is wrong. */
export type Try = <Found>(
  c: AppContext,
  realm: string,
  check: () => Promise<Found | null>,
) => Promise<Found>;

/**
 * Guesses take time, and one address can make only a few at once: behind one of these proxies, the
 * address that the proxy names.
 */
export function createTries(proxies: readonly string[], clock: Clock): Try {
  const clientOf = clientsBehind(proxies);
  const atOnce = new Map<string, number>();
  return async (c, realm, check) => {
    const address = clientOf(c);
    const others = atOnce.get(address) ?? 0;
    if (others >= mostAtOnce)
      throw new Refusal('too_many_tries', 'Too many passwords at once. Wait 1 s.', {
        headers: { 'retry-after': '1' },
      });

    atOnce.set(address, others + 1);
    try {
      const found = await check();
      if (found !== null) return found;
      await sleep(clock, refusalMs);
      throw unauthorized('wrong_password', 'The user name or the password is wrong.', realm);
    } finally {
      const left = (atOnce.get(address) ?? 1) - 1;
      if (left === 0) atOnce.delete(address);
      else atOnce.set(address, left);
    }
  };
}

/** The refusal that makes a browser ask for a password, which it remembers for the realm. */
export const unauthorized = (
  code: 'wrong_password' | 'missing_password',
  detail: string,
  realm: string,
): Refusal =>
  new Refusal(code, detail, {
    headers: { 'www-authenticate': `Basic realm="${realm}", charset="UTF-8"` },
  });

/** Finds the addresses by which clients are counted; empty where one is not known. */
function clientsBehind(proxies: readonly string[]): (c: AppContext) => string {
  const list = new BlockList();
  for (const proxy of proxies) addTo(list, proxy);
  return ({ env, req }) => {
    const address = plainAddress(env.incoming?.socket.remoteAddress ?? '');
    // The last address is the one that the proxy itself has added.
    const named = req.header('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
    const isProxy = isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
    return countedAddress(isProxy && isIP(named) !== 0 ? plainAddress(named) : address);
  };
}

function addTo(list: BlockList, proxy: string): void {
  const [address = '', bits] = proxy.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const isNetwork =
    bits === undefined ||
    (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 'ipv4' ? 32 : 128));
  if (isIP(address) === 0 || !isNetwork) {
    throw new ConfigurationError(
      'invalid_option',
      `The proxy ${JSON.stringify(proxy)} is not an IP address or network. Write it as 127.0.0.1, 10.0.0.0/8 or ::1.`,
    );
  }

  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

/** IPv4 as it is, IPv6 by its /64 network, all of which one user may have. */
function countedAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const first = groups(head);
  const rest = groups(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - rest.length);
  const network = [...first, ...new Array<string>(zeros).fill('0'), ...rest].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}

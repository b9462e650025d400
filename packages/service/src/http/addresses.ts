import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { AppContext } from './context.ts';

/** The address by which clients are counted: IPv4 as it is, IPv6 by its /64 network, all of which one user may have. */
function countedAddress(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const first = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - rest.length);
  const groups = [...first, ...Array.from({ length: zeros }, () => '0'), ...rest].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** The address by which the client of a request is counted; empty where it is not known. */
export type ClientOf = (c: AppContext) => string;

/** Finds the clients of requests: behind one of these proxies, the one that the proxy names. */
export function clientsBehind(proxies: readonly string[]): ClientOf {
  const isProxy = proxyCheck(proxies);
  return ({ env, req }) => {
    const address = env.incoming?.socket.remoteAddress ?? '';
    const named = isProxy(address) ? forwardedFor(req.header('x-forwarded-for')) : null;
    return named ?? countedAddress(address);
  };
}

/** Whether an address belongs to one of the proxies, given as addresses or networks such as `10.0.0.0/8`. */
function proxyCheck(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) addTo(list, proxy);
  return (address) => {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  };
}

/** The client that a proxy names: the last address in `x-forwarded-for`, which the proxy itself has added. */
function forwardedFor(header = ''): string | null {
  const last = header.split(',').at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? countedAddress(last) : null;
}

function addTo(list: BlockList, proxy: string): void {
  const [address = '', bits] = proxy.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const most = family === 'ipv4' ? 32 : 128;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (isIP(address) === 0 || !isNetwork) {
    throw new ConfigurationError(
      'invalid_option',
      `The proxy ${JSON.stringify(proxy)} is not an IP address or network. Write it as 127.0.0.1, 10.0.0.0/8 or ::1.`,
    );
  }
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}

import { cleanText } from './text.ts';

// Addresses of pages are made of parts that are known to be harmless: what a visitor's browser adds to them is left out.

/** Parameters that say which campaign a visit came from. */
const campaignParameters: ReadonlySet<string> = new Set(
  'utm_source utm_medium utm_campaign utm_term utm_content utm_id gclid gbraid wbraid msclkid fbclid k_clickid mkwid pcrid'.split(
    ' ',
  ),
);

/** Lower-case words joined by hyphens. */
const words = /^[a-z]+(?:-[a-z]+)*$/;
const number = /^\d{1,4}$/;
const host = /^(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}(?::\d{1,5})?$/i;
const value = /^[\w.~+|-]{1,200}$/;

/** A URL, a path or a domain: origin without user name, words and short numbers of the path, and known campaign parameters. */
export function pageAddress(sent: string): string {
  const text = cleanText(sent).slice(0, 2000);
  const [, scheme = '', rest = ''] = /^(https?:\/\/|\/\/)?(.*)$/is.exec(text) ?? [];
  const [, place = '', query = ''] = /^([^?#]*)(?:\?([^#]*))?/.exec(rest) ?? [];
  const slash = place.indexOf('/');
  const domain = slash < 0 ? place : place.slice(0, slash);
  const path = slash < 0 ? '' : place.slice(slash);
  return `${scheme.toLowerCase()}${domainOf(domain, scheme)}${pathOf(path)}${queryOf(query)}`;
}

/** A user name stands in front of a domain after a scheme; without one, it is an e-mail address. */
function domainOf(domain: string, scheme: string): string {
  const name = scheme === '' ? domain : domain.slice(domain.lastIndexOf('@') + 1);
  // A domain with as many digits as a phone number is one of somebody's own making, and an address of numbers names a machine.
  const isPlain = name === '' || (host.test(name) && name.replace(/:\d+$/, '').replace(/\D/g, '').length < 7);
  return isPlain ? name.toLowerCase() : '…';
}

function pathOf(path: string): string {
  const segments = path.split('/');
  const digits = segments.filter((each) => number.test(each)).join('').length;
  return segments
    .map((each) => (each === '' || words.test(each) || (number.test(each) && digits < 7) ? each : '…'))
    .join('/');
}

function queryOf(query: string): string {
  const kept = query.split('&').flatMap((pair) => {
    const [name = '', given = ''] = pair.split(/=(.*)/s);
    if (!campaignParameters.has(name.toLowerCase())) return [];
    const isKnown = value.test(given.replace(/%20/g, '+').replace(/%7C/gi, '|'));
    return [`${name.toLowerCase()}=${isKnown ? given : '…'}`];
  });
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** Joins names and values into a query; undefined values are left out. A space becomes `%20`, never `+`. */
export function queryString(parts: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encode(String(value))}`);
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

/** Percent-encodes a string. A lone surrogate, which has no encoding, becomes U+FFFD. */
export function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}

/** Joins names and values to a query; blanks become `%20`, never `+`. Left-out values are left out. */
export function queryString(parts: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(parts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encode(String(value))}`);
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

/** Percent-encodes a text; a lone surrogate, which has no encoding, becomes U+FFFD instead of an exception. */
export function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}

import type { Call } from '@call-attribution/core';

/** Addresses of a call that may carry a click id, the likeliest first. */
const places = ['first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'] as const;

/** The value of a query parameter in the addresses of a call, or null. Only what looks like an id is taken. */
export function parameterOf(call: Call, name: string): string | null {
  const pattern = new RegExp(`(?:^|[?&#;])${name}=([^&#;\\s]+)`, 'i');
  for (const place of places) {
    const text = call[place];
    const match = typeof text === 'string' ? pattern.exec(text) : null;
    const value = match?.[1] === undefined ? null : decoded(match[1]);
    if (value !== null && isId(value)) return value;
  }
  return null;
}

/** The Google click id: the field of its own first, then the addresses. */
export function gclidOf(call: Call): string | null {
  const own = call.ppc_gclid;
  return typeof own === 'string' && isId(own) ? own : parameterOf(call, 'gclid');
}

/** The Microsoft click id. Records have no field for it, so it comes from the addresses. */
export function msclkidOf(call: Call): string | null {
  return parameterOf(call, 'msclkid');
}

// Click ids are letters, digits, dash, underscore and a few marks; a formula or a person's mail address is none.
function isId(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.|~:-]{2,511}$/.test(text);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

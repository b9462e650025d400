import { type Call, phoneKey } from '@call-attribution/core/record';

/** The kinds of id that tell a click of an ad apart, the likeliest first. */
export const clickKinds = ['gclid', 'gbraid', 'wbraid', 'msclkid'] as const;

/** The query parameters that carry the id of a click, or of what was clicked. */
export const clickIdNames = [...clickKinds, 'k_clickid', 'mkwid', 'pcrid'] as const;

/** Ids of a click and of what was clicked, by the query parameter that carries them. */
export type ClickIdName = (typeof clickIdNames)[number];

/** The ids that a call carries. */
export type ClickIds = Readonly<Partial<Record<ClickIdName, string>>>;

/** The field of an id, and the addresses of a visit that may carry one, the likeliest first. */
export const clickPlaces: readonly (
  | 'ppc_gclid'
  | 'first_touch'
  | 'last_touch'
  | 'url_tag'
  | 'landing_page'
  | 'conversion_page'
)[] = ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'];

const parameter = new RegExp(`(?:^|[?&#;])(${clickIdNames.join('|')})=([^&#;\\s]+)`, 'gi');

/**
 * The ids in the field `ppc_gclid` and in the URLs of the visit, which is where most tools leave
 * theirs. Only values that look like an id are taken.
 */
export function clickIdsOf(call: Call): ClickIds {
  return idsIn(
    (name) => call[name],
    (id) => !isNumberOf(call, id),
  );
}

/** The click id of a call, and which kind it is. */
export function clickOf(read: ReadPlace): { readonly kind: string; readonly id: string } | null {
  const ids = idsIn(read, () => true);
  const kind = clickKinds.find((each) => ids[each] !== undefined);
  const id = kind === undefined ? undefined : ids[kind];
  return kind === undefined || id === undefined ? null : { kind, id };
}

/** Reads where a call may carry ids. */
type ReadPlace = (name: (typeof clickPlaces)[number]) => unknown;

function idsIn(read: ReadPlace, accepts: (id: string) => boolean): ClickIds {
  const ids: Partial<Record<ClickIdName, string>> = {};
  const own = read('ppc_gclid');
  if (isId(own) && accepts(own)) ids.gclid = own;
  for (const place of clickPlaces.slice(1)) {
    const url = read(place);
    if (typeof url !== 'string') continue;
    for (const [, name = '', encoded = ''] of url.matchAll(parameter)) {
      const known = clickIdNames.find((each) => each === name.toLowerCase());
      if (known === undefined) continue;
      const id = ids[known] === undefined ? decoded(encoded) : null;
      if (isId(id) && accepts(id)) ids[known] = id;
    }
  }

  return ids;
}

// A caller can put anything into an address, their own number too.
function isNumberOf({ ani }: Call, id: string): boolean {
  return /^\d+$/.test(id) && phoneKey(id) === phoneKey(ani);
}

// Letters, digits and a few other characters: neither a formula nor an email address is an id.
function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_.|~:-]{2,511}$/.test(value);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

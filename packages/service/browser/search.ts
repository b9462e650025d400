import { authHeaders, type Credentials, listAddress, type Version } from './api.ts';
import { byId, el } from './dom.ts';

/** What to search for, in which version, and with whose keys. */
export interface Search {
  readonly version: Version;
  readonly keys: Credentials;
  readonly q: string;
}

/** The version that is chosen on the page. */
export function chosenVersion(): Version {
  return document.querySelector<HTMLInputElement>('input[name="version"]:checked')?.value === 'v2'
    ? 'v2'
    : 'v3';
}

/** Keeps the search in the address, so that it can be bookmarked and shared. The address never holds keys. */
export function remember({ q, version }: Search): void {
  const state = new URLSearchParams({ ...(q.trim() === '' ? {} : { q: q.trim() }), v: version });
  history.replaceState(null, '', `#${state}`);
}

/** Restores the search from the address: chooses the version and returns the filter. */
export function recall(): string {
  const state = new URLSearchParams(location.hash.slice(1));
  const version = state.get('v') === 'v2' ? 'v2' : 'v3';
  const radio = document.querySelector<HTMLInputElement>(`input[name="version"][value="${version}"]`);
  if (radio) radio.checked = true;
  return state.get('q') ?? '';
}

/** Shows the request as a shell command; the keys of a mirror are left out of it. */
export function showRequest({ version, keys, q }: Search, hideKeys: boolean): void {
  const address = new URL(listAddress(version, q, 2, 0), document.baseURI).href;
  const headers = Object.entries(authHeaders(version, keys)).map(
    ([name, value]) => `-H '${name}: ${hideKeys ? '<your key>' : value}'`,
  );
  byId('shell').textContent = `curl -i ${headers.join(' ')} \\\n  '${address.replaceAll("'", '%27')}'`;
}

const examples: readonly (readonly [label: string, filter: string, only?: Version])[] = [
  ['All calls', ''],
  ['Ten minutes or more', 'talk_minutes:[10 TO *]'],
  ['Not answered', 'talk_minutes:[0 TO 0]'],
  ['One week of October', 'date_added:[2026-10-12 00:00:00 TO 2026-10-19 00:00:00}'],
  ['With call extensions', 'inc_gce:1', 'v3'],
  ['With a typo', 'talk_minuts:[2 TO *'],
];

/** Shows filters to try; `choose` gets the one that is pressed. */
export function showExamples(version: Version, choose: (filter: string) => void): void {
  const chips = examples
    .filter(([, , only]) => only === undefined || only === version)
    .map(([label, filter]) => {
      const chip = el('button', { type: 'button', class: 'chip' }, label);
      chip.addEventListener('click', () => choose(filter));
      return chip;
    });
  byId('examples').replaceChildren(...chips);
}

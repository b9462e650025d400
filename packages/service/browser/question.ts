import { authHeaders, type Credentials, listAddress, type Version } from './api.ts';
import { byId } from './dom.ts';

/** What is asked, of which version, and by whom. */
export interface Question {
  readonly version: Version;
  readonly who: Credentials;
  readonly q: string;
}

/** The version that is chosen on the page. */
export function chosenVersion(): Version {
  return document.querySelector<HTMLInputElement>('input[name="version"]:checked')?.value === 'v2'
    ? 'v2'
    : 'v3';
}

/** Keeps the question in the address, so that it can be kept and handed on. Keys never stand there. */
export function remember({ q, version }: Question): void {
  const state = new URLSearchParams({ ...(q.trim() === '' ? {} : { q: q.trim() }), v: version });
  history.replaceState(null, '', `#${state}`);
}

/** Takes up the question in the address: chooses the version and gives the filter. */
export function recall(): string {
  const state = new URLSearchParams(location.hash.slice(1));
  const version = state.get('v') === 'v2' ? 'v2' : 'v3';
  const radio = document.querySelector<HTMLInputElement>(`input[name="version"][value="${version}"]`);
  if (radio) radio.checked = true;
  return state.get('q') ?? '';
}

/** Shows the request as a command for a shell; one's own keys are left out of it. */
export function showRequest({ version, who, q }: Question, hideKeys: boolean): void {
  const address = new URL(listAddress(version, q, 2, 0), document.baseURI).href;
  const headers = Object.entries(authHeaders(version, who)).map(
    ([name, value]) => `-H '${name}: ${hideKeys ? '<your key>' : value}'`,
  );
  byId('shell').textContent = `curl -i ${headers.join(' ')} \\\n  '${address.replaceAll("'", '%27')}'`;
}

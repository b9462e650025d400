// What leads from the page to elsewhere: a file, or lines for a shell.
import { type Credentials, getFile, selection } from './api.ts';
import { rows } from './calls-table.ts';
import { byId, copyButton, el } from './dom.ts';
import { controlsOf, type Dimension, type State } from './state.ts';

/** Saves what is seen as CSV: the calls, or the values of a field. */
export async function download(
  what: 'calls' | Dimension,
  opener: HTMLButtonElement,
  state: State,
  keys: Credentials | null,
  fail: (error: unknown) => void,
): Promise<void> {
  if (keys === null || opener.disabled) return;
  const label = opener.textContent;
  opener.disabled = true;
  opener.textContent = 'Preparing CSV';
  try {
    const path = what === 'calls' ? 'page/calls.csv' : 'page/groups.csv';
    const of = what === 'calls' ? { fields: state.columns.join() } : { field: what };
    const file = await getFile(path, { ...selection(state), ...of }, keys);
    const { days } = controlsOf(state.q);
    const name = days === null ? `${what}.csv` : `${what}-${days.first}-to-${days.last}.csv`;
    const link = el('a', { href: URL.createObjectURL(file), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    fail(error);
  }
  opener.disabled = false;
  opener.textContent = label;
}

const titles: Readonly<Record<string, string>> = {
  csv: 'These calls as CSV',
  api: 'The API, with curl',
  command: 'The calls command',
};

/** Shows the lines for a shell. */
export function drawShell(state: State): void {
  const lines = Object.entries(shellLines(state, document.baseURI));
  byId('shell').replaceChildren(
    ...lines.map(([name, text]) => {
      const title = titles[name] ?? name;
      const copy = copyButton(title, () => text);
      return el(
        'div',
        { class: 'snippet' },
        el('div', { class: 'heads' }, el('h3', {}, title), copy),
        el('pre', { tabindex: '0' }, text),
      );
    }),
  );
  byId('shell-note').hidden = Object.keys(state.only).length === 0;
}

/** Lines for a shell that give what is seen. Keys are named by variables, never shown. */
function shellLines(state: State, base: string): Record<string, string> {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const url = (path: string) => quote(new URL(path, base).href);
  const { q } = state;
  const headers = '-H "access_key: $CALLS_ACCESS_KEY" -H "secret_key: $CALLS_SECRET_KEY"';
  const data = (parameters: Readonly<Record<string, string>>) =>
    Object.entries(parameters)
      .map(([name, value]) => ` \\\n  --data-urlencode ${quote(`${name}=${value}`)}`)
      .join('');
  const filter = q.trim() === '' ? '' : ` --q ${quote(q.trim())}`;
  const where = `CALLS_BASE_URL=${quote(new URL('.', base).href.replace(/\/$/, ''))} `;
  const csv = `curl -G ${url('page/calls.csv')} ${headers}${data({ ...selection(state), fields: state.columns.join() })} \\\n  -o calls.csv`;
  const command = `${where}calls list${filter} -n ${rows}`;
  const list = `curl -G ${url('v3/user/bid-management')} ${headers}${data({ ...(q.trim() === '' ? {} : { q: q.trim() }), rows: String(rows) })}`;
  return { csv, api: list, command };
}

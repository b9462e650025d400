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
  opener.textContent = 'Preparing';
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

/** Shows the lines for a shell. */
export function drawShell(state: State): void {
  byId('shell').replaceChildren(
    ...Object.entries(shellLines(state, document.baseURI)).map(([title, text]) =>
      el(
        'div',
        { class: 'snippet' },
        el(
          'div',
          { class: 'heads' },
          el('h3', {}, title),
          copyButton(title, () => text),
        ),
        el('pre', { tabindex: '0' }, text),
      ),
    ),
  );
  byId('shell-note').hidden = Object.keys(state.only).length === 0;
}

/** Lines for a shell that give what is seen. Keys are named by variables, never shown. */
function shellLines(state: State, base: string): Record<string, string> {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

  const curl = (path: string, parameters: Readonly<Record<string, string>>) => {
    const data = Object.entries(parameters).map(
      ([name, value]) => ` \\\n  --data-urlencode ${quote(`${name}=${value}`)}`,
    );
    const keys = '-H "access_key: $CALLS_ACCESS_KEY" -H "secret_key: $CALLS_SECRET_KEY"';
    return `curl -G ${quote(new URL(path, base).href)} ${keys}${data.join('')}`;
  };

  const q = state.q.trim();
  const csv = curl('page/calls.csv', { ...selection(state), fields: state.columns.join() });
  const api = quote(new URL('.', base).href.replace(/\/$/, ''));
  return {
    'These calls as CSV': `${csv} \\\n  -o calls.csv`,
    'The API, with curl': curl('v3/user/bid-management', {
      ...(q === '' ? {} : { q }),
      rows: String(rows),
    }),
    'The calls command': `CALLS_BASE_URL=${api} calls list${q === '' ? '' : ` --q ${quote(q)}`} -n ${rows}`,
  };
}

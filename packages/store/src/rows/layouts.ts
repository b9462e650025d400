import { fields } from '@call-attribution/core';
import type { Driver, Row, Session } from '../database/driver.ts';

/** The names of a call's fields in the order in which their values are stored. */
export type Layout = readonly string[];

const onlyIn = (version: 'v2' | 'v3') => fields.filter((f) => f.v2 !== f.v3 && f[version] !== null);

/** The order of this release: the fields that both versions share, then those of one version only. */
export const currentLayout: Layout = [
  ...new Set(
    [...fields.filter((f) => f.v2 === f.v3), ...onlyIn('v2'), ...onlyIn('v3')].map(({ name }) => name),
  ),
];

const slots = new Map(currentLayout.map((name, slot) => [name, slot]));

/** Where the value of a field is in the current layout; -1 for an unknown field. */
export function slotOf(name: string): number {
  return slots.get(name) ?? -1;
}

/** Stands between two values. JSON writes it with a backslash, so it is never part of one. */
export const separator = '\u001f';

/**
 * The stored form of a JSON literal: a string without its quotes, nothing for null, everything else after an equals sign. Quotes
 * stay where the string could be mistaken for something else.
 */
export function storedForm(literal: string): string {
  if (literal === 'null') return '';
  if (literal.charCodeAt(0) !== quote) return `=${literal}`;
  return literal === '""' || literal.charCodeAt(1) === equals ? literal : literal.slice(1, -1);
}

/** The JSON literal of a stored value. */
export function literalOf(stored: string): string {
  if (stored === '') return 'null';
  const first = stored.charCodeAt(0);
  if (first === equals) return stored.slice(1);
  return first === quote ? stored : `"${stored}"`;
}

const quote = 0x22;
const equals = 0x3d;

/** The layouts that rows of a store are in: a row keeps the layout of the release that wrote it. */
export interface Layouts {
  /** The number of {@link currentLayout} in this store. */
  readonly current: number;
  /** Makes sure that the layouts of rows are known: another release may have added one. */
  learn(session: Pick<Session, 'all'>, rows: readonly Row[]): Promise<void>;
  /** The stored values of a row in the current layout, and after them the unknown fields as `"name":value,…`. */
  unpack(row: { readonly layout?: unknown; readonly packed?: unknown }): string[];
}

/** Reads the layouts of a store, and adds the current one if no process has done so before. */
export async function openLayouts(driver: Driver): Promise<Layouts> {
  const known = new Map<number, Layout>();
  const readAll = async (session: Pick<Session, 'all'>) => {
    for (const row of await session.all('SELECT id, names FROM layouts'))
      known.set(Number(row.id), JSON.parse(String(row.names)) as Layout);
  };
  const currentId = () => [...known].find(([, names]) => `${names}` === `${currentLayout}`)?.[0];
  await readAll(driver);
  if (currentId() === undefined) await driver.write((session) => addLayout(driver, session));
  await readAll(driver);
  const current = currentId();
  if (current === undefined) throw new Error('The layout of this release was added, but is not there.');
  return {
    current,
    async learn(session, rows) {
      if (rows.some((row) => !known.has(Number(row.layout)))) await readAll(session);
    },
    unpack(row) {
      const values = String(row.packed).split(separator);
      return row.layout === current ? values : rearrange(values, known.get(Number(row.layout)) ?? []);
    },
  };
}

/** Adds the current layout and returns its number. The row in `meta` makes others wait. */
async function addLayout(driver: Driver, session: Session): Promise<number> {
  await session.all(`SELECT version FROM meta WHERE id = 1 ${driver.dialect.lock}`);
  const rows = await session.all('SELECT id, names FROM layouts');
  const names = JSON.stringify(currentLayout);
  const found = rows.find((row) => row.names === names);
  if (found !== undefined) return Number(found.id);
  const id = Math.max(0, ...rows.map((row) => Number(row.id))) + 1;
  await session.run('INSERT INTO layouts (id, names) VALUES ($1, $2)', [id, names]);
  return id;
}

/** Values of another release in the current order. A field that one of the two does not know is an unknown field there. */
function rearrange(values: readonly string[], layout: Layout): string[] {
  const byName = new Map(layout.map((name, i) => [name, values[i] ?? '']));
  const unknown = JSON.parse(`{${(values[layout.length] ?? '').slice(0, -1)}}`) as Record<string, unknown>;
  for (const [name, value] of Object.entries(unknown)) byName.set(name, storedForm(JSON.stringify(value)));
  const known = currentLayout.map((name) => byName.get(name) ?? '');
  for (const name of currentLayout) byName.delete(name);
  const rest = [...byName].filter(([, value]) => value !== '');
  return [...known, rest.map(([name, value]) => `${JSON.stringify(name)}:${literalOf(value)},`).join('')];
}

import type { MemoryLimit } from '@call-attribution/node-stream/accumulators';
import type { Value } from '../conditions/holds.ts';
import type { Facts } from '../fields/facts.ts';
import { Cell, invalidState, type PartMaker, type SavedCell } from './cell.ts';

const bytesOfCell = 160;
const bytesOfPart = 60;

/** The groups of one period. Only those that a call is in are kept. */
export class CellTable {
  readonly cells: Cell[] = [];
  readonly #keys: readonly ((facts: Facts) => Value)[];
  readonly #makers: readonly PartMaker[];
  readonly #memory: MemoryLimit;
  readonly #root: Level = new Map();
  #only: Cell | null = null;

  constructor(keys: readonly ((facts: Facts) => Value)[], makers: readonly PartMaker[], memory: MemoryLimit) {
    this.#keys = keys;
    this.#makers = makers;
    this.#memory = memory;
  }

  /** Counts a call in its group. */
  add(facts: Facts): void {
    const keys = this.#keys;
    let level = this.#root;
    const last = keys.length - 1;
    if (last < 0) {
      this.#only ??= this.#create([]);
      this.#only.add(facts);
      return;
    }
    for (let i = 0; i < last; i += 1) level = deeper(level, keys[i]?.(facts) ?? null);
    const value = keys[last]?.(facts) ?? null;
    let cell = level.get(value);
    if (!(cell instanceof Cell)) {
      cell = this.#create(keys.map((read) => read(facts)));
      level.set(value, cell);
    }
    cell.add(facts);
  }

  save(): SavedCell[] {
    return this.cells.map((cell) => cell.save());
  }

  merge(saved: readonly SavedCell[]): void {
    if (!Array.isArray(saved)) throw invalidState();
    for (const { key, parts } of saved) {
      if (!Array.isArray(key) || key.length !== this.#keys.length) throw invalidState();
      this.#at(key).merge({ parts });
    }
  }

  /** One cell of all. */
  whole(): Cell {
    const whole = new Cell([], this.#makers);
    for (const cell of this.cells) whole.merge(cell.save());
    return whole;
  }

  #at(key: readonly Value[]): Cell {
    if (key.length === 0) {
      this.#only ??= this.#create([]);
      return this.#only;
    }
    let level = this.#root;
    for (const value of key.slice(0, -1)) level = deeper(level, value);
    const last = key.at(-1) ?? null;
    let cell = level.get(last);
    if (!(cell instanceof Cell)) {
      cell = this.#create(key);
      level.set(last, cell);
    }
    return cell;
  }

  #create(key: readonly Value[]): Cell {
    this.#memory.take(
      bytesOfCell +
        bytesOfPart * this.#makers.length +
        key.reduce((sum: number, value) => sum + (typeof value === 'string' ? 2 * value.length : 8), 0),
    );
    const cell = new Cell(key, this.#makers);
    this.cells.push(cell);
    return cell;
  }
}

type Level = Map<Value, Level | Cell>;

function deeper(level: Level, value: Value): Level {
  let next = level.get(value);
  if (!(next instanceof Map)) {
    next = new Map();
    level.set(value, next);
  }
  return next;
}

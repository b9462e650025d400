import type { Value } from '../conditions/holds.ts';

/** Numbers the values of a group in the order in which they come, from 0. */
export interface Axis {
  at(value: Value): number;
}

/** Values of any kind. */
export class ValueAxis implements Axis {
  readonly #known = new Map<Value, number>();

  at(value: Value): number {
    let place = this.#known.get(value);
    if (place === undefined) {
      place = this.#known.size;
      this.#known.set(value, place);
    }
    return place;
  }
}

/** Days, weeks or months that are further apart than this are found in a map. */
const widest = 1_000_000;
const unknown = -1;

/** Days, weeks, months or hours as whole numbers: a list from the first to the last one. */
export class TimeAxis implements Axis {
  readonly #others = new ValueAxis();
  #first = 0;
  #places = new Int32Array(0);
  /** By the place among the others. */
  readonly #otherPlaces: number[] = [];
  #size = 0;

  at(value: Value): number {
    if (typeof value !== 'number' || !this.#covers(value)) return this.#other(value);
    const slot = value - this.#first;
    const place = this.#places[slot] ?? unknown;
    if (place !== unknown) return place;
    this.#places[slot] = this.#size;
    this.#size += 1;
    return this.#size - 1;
  }

  #other(value: Value): number {
    const at = this.#others.at(value);
    let place = this.#otherPlaces[at];
    if (place === undefined) {
      place = this.#size;
      this.#otherPlaces[at] = place;
      this.#size += 1;
    }
    return place;
  }

  /** Makes the list longer where it has to be; false when it would be too long. */
  #covers(value: number): boolean {
    const { length } = this.#places;
    if (value >= this.#first && value < this.#first + length) return true;
    if (!Number.isSafeInteger(value)) return false;
    const first = length === 0 ? value : Math.min(this.#first, value);
    const end = length === 0 ? value + 1 : Math.max(this.#first + length, value + 1);
    if (end - first > widest) return false;
    // Room for as much again on the side on which it grows.
    const room = Math.max(64, end - first);
    const [low, high] = [
      value < this.#first ? first - room : first,
      value >= this.#first + length ? end + room : end,
    ];
    const places = new Int32Array(high - low).fill(unknown);
    places.set(this.#places, length === 0 ? 0 : this.#first - low);
    this.#first = low;
    this.#places = places;
    return true;
  }
}

/** Pairs of a place of one axis and a place of another. */
export class PairAxis {
  readonly #known = new Map<number, number>();

  at(one: number, other: number): number {
    const pair = one * mostPlaces + other;
    let place = this.#known.get(pair);
    if (place === undefined) {
      place = this.#known.size;
      this.#known.set(pair, place);
    }
    return place;
  }
}

/** Two places below this make one whole number that a double holds exactly. */
const mostPlaces = 2 ** 26;

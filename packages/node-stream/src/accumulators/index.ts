// Measures that are counted value by value: exact, saved as plain JSON, merged in any parts and order. Aggregates, windows and
// questions count with these; only QuantileSketch estimates.

export { type Accumulator, MemoryLimit } from './accumulator.ts';
export { Count } from './count.ts';
export { Distinct, type Plain } from './distinct.ts';
export { First, Largest, Last, type Placed, Smallest } from './extremes.ts';
export { NumberTable } from './number-table.ts';
export { Percentiles } from './percentiles.ts';
export { QuantileSketch, relativeError, type SavedSketch, type SketchOptions } from './quantile-sketch.ts';
export { type SavedSum, Sum } from './sum.ts';

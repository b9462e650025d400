/** A whole number with separators between thousands: `1,234,567`. */
export const formatCount = (value: number): string =>
  String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');

/** A number with its noun: `1 call`, `2,000 calls`. */
export const formatCounted = (value: number, one: string, many = `${one}s`): string =>
  `${formatCount(value)} ${value === 1 ? one : many}`;

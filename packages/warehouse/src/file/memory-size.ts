/** The bytes of a size such as `600MB` or `2GiB`; NaN for other text. */
export function bytesOf(size: string): number {
  const [, count, unit = '', binary] = /^(\d+(?:\.\d+)?)\s*([KMGT])(i?)B$/i.exec(size) ?? [];
  return Number(count) * (binary ? 1024 : 1000) ** (1 + 'KMGT'.indexOf(unit.toUpperCase()));
}

/** `740 bytes`, `12 kB`, `3.4 MB`, `1.2 GB` */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const kilobytes = Math.round(bytes / 1_000);
  if (kilobytes < 1_000) return `${kilobytes} kB`;
  const megabytes = (bytes / 1_000_000).toFixed(1);
  return Number(megabytes) < 1_000 ? `${megabytes} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

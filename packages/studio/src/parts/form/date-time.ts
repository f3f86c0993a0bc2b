/** A moment as the browser's field shows it, in the user's time zone. */
export function toLocalTime(moment: string): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return '';
  // From the parts: while a year is typed it is one of the first centuries, whose offset from UTC has seconds. If the field got another value
  // than it shows, the browser would begin the year again.
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [String(at.getFullYear()).padStart(4, '0'), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

/** The value of the browser's field, as a moment. */
export function fromLocalTime(local: string): string {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

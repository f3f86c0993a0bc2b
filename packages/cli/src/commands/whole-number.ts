import { InvalidArgumentError } from 'commander';

/** Reads a number of the command line. A number outside the range is wrong usage. Only digits are accepted: `Number()` would also take "0x10" and "". */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most.toLocaleString('en')}.`);
    return value;
  };
}

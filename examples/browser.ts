import chromium from '@sparticuz/chromium';

/** Where the Chromium is that the tests of the pages run, or the one that CHROME_PATH names. */
export async function chromePath(): Promise<string> {
  return process.env.CHROME_PATH ?? (await chromium.executablePath());
}

/** Before any test: it is unpacked when it is first asked for, and a worker that asks meanwhile would run the half of it. */
export async function setup(): Promise<void> {
  await chromePath();
}

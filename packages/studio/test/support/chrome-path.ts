import chromium from '@sparticuz/chromium';

/** Where the tests' Chromium is, or the one that CHROME_PATH names. */
export async function chromePath(): Promise<string> {
  return process.env.CHROME_PATH ?? (await chromium.executablePath());
}

/** Each line of a body, parsed, as it arrives. */
export async function* jsonLines(body: ReadableStream<Uint8Array> | null): AsyncGenerator<unknown> {
  if (body === null) return;
  let rest = '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield JSON.parse(line);
      if (done) break;
    }
    if (rest !== '') yield JSON.parse(rest);
  } finally {
    // The caller may stop reading early.
    await reader.cancel().catch(() => {});
  }
}

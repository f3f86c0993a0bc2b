/**
 * True while an input method composes text. Its keys choose among suggestions and must do nothing else. Safari reports the Enter that ends the
 * composition after the end, and marks it by the code 229 alone.
 */
export function isComposing({ isComposing: isMarked, keyCode }: KeyboardEvent): boolean {
  return isMarked || keyCode === 229;
}

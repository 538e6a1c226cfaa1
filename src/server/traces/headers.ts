/**
 * Headers for the endpoint: `a=b,c=d`, with percent signs in the values (OpenTelemetry, "OTLP Exporter Configuration").
 * @returns undefined: they are none
 */
export function headersOf(text: string): Headers | undefined {
  try {
    const headers = new Headers();
    for (const pair of text.split(',')) {
      const end = pair.indexOf('=');
      if (end < 1) return undefined;
      headers.append(pair.slice(0, end).trim(), decodeURIComponent(pair.slice(end + 1).trim()));
    }
    return headers;
  } catch {
    return undefined;
  }
}

/** The page loads only from this service: it works offline, and no other server learns its readers. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Lunas: API documentation</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/docs.css" />
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript; the same contract is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/docs.js"></script>
  </body>
</html>
`;

/** No requests from the page (`supportedSubmitMethods`): secret keys must not be put into a browser. */
export const SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  supportedSubmitMethods: [],
  validatorUrl: null,
});
`;

export const STYLE = `body { margin: 0; }
.swagger-ui .scheme-container { display: none; }
`;

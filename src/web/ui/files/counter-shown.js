// The page of a QR that the counter has made is there: its response was not lost.
'use strict';

try {
  sessionStorage.removeItem('lunas counter');
} catch {
  // Nothing is stored.
}

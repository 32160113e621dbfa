<?php
/**
 * The database of the stub.
 *
 * @package Lunas_QRIS
 */

/**
 * A file with JSON that several processes change one after another.
 */
final class Test_Store {

	/**
	 * Its path.
	 *
	 * @var string
	 */
	private $file;

	/**
	 * Opens the store.
	 *
	 * @param string $file Its path.
	 */
	public function __construct( $file ) {
		$this->file = $file;
	}

	/**
	 * Reads, and writes what was changed.
	 *
	 * @param callable $work Gets the content by reference.
	 * @return mixed What the work returns.
	 */
	public function change( callable $work ) {
		$handle = fopen( $this->file, 'c+' );
		flock( $handle, LOCK_EX );
		$content = json_decode( (string) stream_get_contents( $handle ), true );
		$content = is_array( $content ) ? $content : array();
		try {
			return $work( $content );
		} finally {
			ftruncate( $handle, 0 );
			rewind( $handle );
			fwrite( $handle, json_encode( $content ) );
			fclose( $handle );
		}
	}

	/**
	 * A value, or all of them.
	 *
	 * @param string ...$path Keys.
	 * @return mixed Null: it is not there.
	 */
	public function get( ...$path ) {
		return $this->change(
			static function ( $value ) use ( $path ) {
				foreach ( $path as $key ) {
					$value = isset( $value[ $key ] ) ? $value[ $key ] : null;
				}
				return $value;
			}
		);
	}
}
